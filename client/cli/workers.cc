// `jackdaw workers`: what each worker of the server did.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/table.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

// "default" of "runners/default/workers/3".
std::string RunnerOf(const v1::Worker& worker) {
  const std::vector<std::string> parts = absl::StrSplit(worker.name(), '/');
  return parts.size() >= 2 ? parts[1] : "";
}

std::string Seconds(const google::protobuf::Duration& duration) {
  return ReadableDuration(client::FromProto(duration));
}

int Workers(const Context& context) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<std::vector<v1::Worker>> workers = client->ListWorkers();
  if (!workers.ok()) return context.Fail(workers.status());
  if (context.json) {
    std::vector<std::string> shown;
    for (const v1::Worker& worker : *workers) shown.push_back(ToJson(worker));
    *context.out << JsonObject().Raw("workers", JsonArray(shown)).str() << "\n";
    return kSuccess;
  }
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"RUNNER"},
               {"WORKER", kRight},
               {"TASKS", kRight},
               {"STOLEN", kRight},
               {"STEALS", kRight},
               {"EMPTY", kRight},
               {"LOST", kRight},
               {"IDLE SPINS", kRight},
               {"QUEUE", kRight},
               {"PARKS", kRight},
               {"BUSY", kRight},
               {"SPINNING", kRight},
               {"PARKED", kRight}});
  for (const v1::Worker& w : *workers) {
    table.AddRow({RunnerOf(w), absl::StrCat(w.index()), absl::StrCat(w.tasks()),
                  absl::StrCat(w.stolen_tasks()), absl::StrCat(w.steals_taken()),
                  absl::StrCat(w.steals_empty()), absl::StrCat(w.steals_lost()),
                  absl::StrCat(w.idle_spins()), absl::StrCat(w.queue_depth()),
                  absl::StrCat(w.parks()), Seconds(w.busy_duration()), Seconds(w.spin_duration()),
                  Seconds(w.park_duration())});
  }
  *context.out << table.str();
  return kSuccess;
}

}  // namespace

void AddWorkers(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(
      app, "workers", "Show the counters of each worker: tasks, steals, idle spins, queue depth",
      "jackdaw workers\n"
      "jackdaw workers --json | jq '[.workers[].steals_taken] | add'");
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected] { selected = [&context] { return Workers(context); }; });
}

}  // namespace jackdaw::cli
