// `jackdaw tasks`, `result`, `logs`: the tasks of a job and what they wrote.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "client/cli/fetch_tasks.h"
#include "client/cli/json.h"
#include "client/cli/table.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

constexpr std::size_t kMaxErrorWidth = 100;

struct TasksOptions {
  std::string job;
  std::vector<std::string> states;
  std::int64_t limit = 1000;
};

std::string TimeOf(const v1::Task& task) {
  if (task.attempts().empty()) return "";
  const v1::Attempt& last = *task.attempts().rbegin();
  if (!last.has_start_time() || !last.has_end_time()) return "";
  return ReadableDuration(client::FromProto(last.end_time()) -
                          client::FromProto(last.start_time()));
}

int Tasks(const Context& context, const TasksOptions& options) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  std::vector<v1::Task::State> states;
  for (const std::string& state : options.states) {
    v1::Task::State value = v1::Task::STATE_UNSPECIFIED;
    v1::Task::State_Parse(absl::StrCat("STATE_", absl::AsciiStrToUpper(state)), &value);
    states.push_back(value);
  }
  const auto tasks = FetchTasks(*client, options.job, v1::TASK_VIEW_FULL, states, options.limit);
  if (!tasks.ok()) return context.Fail(tasks.status());
  if (context.json) {
    std::vector<std::string> shown;
    for (const v1::Task& task : *tasks) shown.push_back(ToJson(task));
    *context.out << JsonObject().Raw("tasks", JsonArray(shown)).str() << "\n";
    return kSuccess;
  }
  Table table({{"INDEX", Table::Align::kRight},
               {"TASK"},
               {"STATE"},
               {"ATTEMPTS", Table::Align::kRight},
               {"TOOK", Table::Align::kRight},
               {"OUTPUT", Table::Align::kRight},
               {"ERROR"}});
  for (const v1::Task& task : *tasks) {
    const bool succeeded = task.state() == v1::Task::STATE_SUCCEEDED;
    table.AddRow({absl::StrCat(task.index()), std::string(client::LastPart(task.name())),
                  StateName(task.state()), absl::StrCat(task.attempt_count()), TimeOf(task),
                  succeeded ? ReadableBytes(task.output_bytes()) : "",
                  Clip(Printable(task.error().message(), LineEnds::kEscape), kMaxErrorWidth)});
  }
  *context.out << table.str();
  return kSuccess;
}

struct ReadOptions {
  std::string job;
  std::string task;
  Client::ReadOptions read;
};

// The bytes as they are, without holding them.
int Read(const Context& context, const ReadOptions& options) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  std::string kept;
  const auto read =
      client->ReadOutput(options.job, options.task, options.read, [&](absl::string_view piece) {
        if (context.json) {
          kept.append(piece.data(), piece.size());
        } else {
          context.out->write(piece.data(), static_cast<std::streamsize>(piece.size()));
        }
      });
  context.out->flush();
  if (!read.ok()) return context.Fail(read.status());
  if (context.json) *context.out << OutputToJson(options.task, kept, *read) << "\n";
  if (!*context.out) return context.FailUsage("cannot write to standard output");
  return kSuccess;
}

void AddTaskList(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "tasks", "List the tasks of a job",
                           "jackdaw tasks nightly\n"
                           "jackdaw tasks nightly --state failed --json | jq -r '.tasks[].name'");
  auto options = std::make_shared<TasksOptions>();
  verb->add_option("JOB", options->job, "The job: jobs/ID or ID")->required();
  verb->add_option("--state", options->states, "Only tasks in this state; may be repeated")
      ->check(CLI::IsMember({"waiting", "queued", "running", "waiting_for_children", "backoff",
                             "succeeded", "failed", "cancelled", "skipped"}));
  verb->add_option("--limit", options->limit, "At most so many; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Tasks(context, *options); };
  });
}

std::shared_ptr<ReadOptions> AddReading(CLI::App* verb, Context& context, Selected& selected) {
  auto options = std::make_shared<ReadOptions>();
  verb->add_option("JOB", options->job, "The job: jobs/ID or ID")->required();
  verb->add_option("TASK", options->task, "The task: its id or its index")->required();
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Read(context, *options); };
  });
  return options;
}

}  // namespace

void AddTasks(CLI::App& app, Context& context, Selected& selected) {
  AddTaskList(app, context, selected);
  AddReading(AddVerb(app, "result", "Print the output of a task, byte for byte",
                     "jackdaw result licenses-1 report\n"
                     "jackdaw result nightly 17 > output.bin"),
             context, selected);
  CLI::App* logs = AddVerb(app, "logs", "Print the log of a task: a command's standard error",
                           "jackdaw logs nightly fetch\n"
                           "jackdaw logs nightly fetch --attempt 1");
  const auto options = AddReading(logs, context, selected);
  options->read.source = v1::ReadOutputRequest::SOURCE_LOG;
  logs->add_option("--attempt", options->read.attempt, "Whose log, from 1 (default: the last's)")
      ->check(CLI::PositiveNumber);
}

}  // namespace jackdaw::cli
