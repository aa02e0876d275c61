// `jackdaw watch JOB`: follows a job to its end.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/json.h"
#include "client/cli/results.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

// Names are asked for the first tasks only; the rest go by their index.
constexpr std::int32_t kMaxNamedTasks = 1000;

absl::StatusOr<std::vector<std::string>> FetchIds(Client& client, const std::string& job) {
  v1::ListTasksRequest request;
  request.set_parent(client::JobName(job));
  request.set_page_size(kMaxNamedTasks);
  const absl::StatusOr<v1::ListTasksResponse> page = client.ListTasks(request);
  if (!page.ok()) return page.status();
  std::vector<std::string> ids;
  for (const v1::Task& task : page->tasks()) ids.push_back(task.task_id());
  return ids;
}

std::string EventToJson(const v1::JobEvent& event) {
  JsonObject json;
  json.Integer("revision", event.revision());
  if (event.resync()) json.Bool("resync", true);
  if (event.has_job()) json.Raw("job", ToJson(event.job()));
  std::vector<std::string> tasks;
  for (int i = 0; i < event.task_indices_size() && i < event.task_states_size(); ++i) {
    tasks.push_back(JsonObject()
                        .Integer("index", event.task_indices(i))
                        .Text("state", StateName(event.task_states(i)))
                        .str());
  }
  return json.Raw("tasks", JsonArray(tasks)).str();
}

int Watch(const Context& context, const std::string& name) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  std::vector<std::string> ids;
  if (!context.json) {
    auto fetched = FetchIds(*client, name);
    if (!fetched.ok()) return context.Fail(fetched.status());
    ids = *std::move(fetched);
  }
  const absl::StatusOr<v1::Job> found = client->GetJob(name);
  if (!found.ok()) return context.Fail(found.status());
  Progress progress(found->display_name(), std::move(ids));
  const std::unique_ptr<Reporter> reporter = context.json
                                                 ? MakeSilentReporter(context, std::move(progress))
                                                 : MakeReporter(context, std::move(progress));
  Client::WatchOptions options;
  options.task_updates = v1::TASK_UPDATES_STATES;
  const auto watch = client->WatchJob(name, options);
  const absl::StatusOr<v1::Job> job =
      Follow(*watch, *reporter, [&context](const v1::JobEvent& event) {
        if (context.json) *context.out << EventToJson(event) << std::endl;
      });
  if (!job.ok()) return context.Fail(job.status());
  if (!context.json) *context.out << FormatEnd(*job);
  return ExitCodeOf(*job);
}

}  // namespace

void AddWatch(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "watch", "Follow a job to its end",
                           "jackdaw watch jobs/nightly\n"
                           "jackdaw watch nightly --json | jq -c .job.task_counts\n\n"
                           "Ctrl-C leaves; the job goes on. Exit code 0 only if it SUCCEEDED.");
  auto name = std::make_shared<std::string>();
  verb->add_option("JOB", *name, "The job: jobs/ID or ID")->required();
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, name] {
    selected = [&context, name] { return Watch(context, *name); };
  });
}

}  // namespace jackdaw::cli
