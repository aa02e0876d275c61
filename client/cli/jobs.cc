// `jackdaw list`, `get`, `cancel`, `delete`: jobs as a whole.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/progress.h"
#include "client/cli/results.h"
#include "client/cli/table.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

constexpr std::int32_t kPageSize = 1000;

struct ListOptions {
  std::vector<std::string> states;
  std::int64_t limit = 20;
};

std::string Local(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", client::FromProto(time), absl::LocalTimeZone());
}

std::string Took(const v1::Job& job) {
  if (!job.has_end_time()) return "";
  return ReadableDuration(client::FromProto(job.end_time()) - client::FromProto(job.create_time()));
}

absl::StatusOr<std::vector<v1::Job>> Fetch(Client& client, const ListOptions& options) {
  v1::ListJobsRequest request;
  for (const std::string& state : options.states) {
    v1::Job::State value = v1::Job::STATE_UNSPECIFIED;
    v1::Job::State_Parse(absl::StrCat("STATE_", absl::AsciiStrToUpper(state)), &value);
    request.add_states(value);
  }
  std::vector<v1::Job> jobs;
  const std::size_t limit = options.limit == 0 ? SIZE_MAX : static_cast<std::size_t>(options.limit);
  do {
    request.set_page_size(
        static_cast<std::int32_t>(std::min<std::size_t>(kPageSize, limit - jobs.size())));
    absl::StatusOr<v1::ListJobsResponse> page = client.ListJobs(request);
    if (!page.ok()) return page.status();
    for (v1::Job& job : *page->mutable_jobs()) jobs.push_back(std::move(job));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && jobs.size() < limit);
  return jobs;
}

int List(const Context& context, const ListOptions& options) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<std::vector<v1::Job>> jobs = Fetch(*client, options);
  if (!jobs.ok()) return context.Fail(jobs.status());
  if (context.json) {
    std::vector<std::string> shown;
    for (const v1::Job& job : *jobs) shown.push_back(ToJson(job));
    *context.out << JsonObject().Raw("jobs", JsonArray(shown)).str() << "\n";
    return kSuccess;
  }
  Table table({{"JOB"},
               {"NAME"},
               {"STATE"},
               {"DONE", Table::Align::kRight},
               {"TASKS", Table::Align::kRight},
               {"FAILED", Table::Align::kRight},
               {"CREATED"},
               {"TOOK", Table::Align::kRight}});
  for (const v1::Job& job : *jobs) {
    const v1::TaskCounts& counts = job.task_counts();
    table.AddRow({std::string(client::LastPart(job.name())), job.display_name(),
                  StateName(job.state()), absl::StrCat(Done(counts)), absl::StrCat(counts.total()),
                  absl::StrCat(counts.failed()), Local(job.create_time()), Took(job)});
  }
  *context.out << table.str();
  return kSuccess;
}

int Get(const Context& context, const std::string& name) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<v1::Job> job = client->GetJob(name);
  if (!job.ok()) return context.Fail(job.status());
  if (context.json) {
    *context.out << ToJson(*job) << "\n";
    return kSuccess;
  }
  const auto line = [&context](const char* what, absl::string_view value) {
    if (value.empty()) return;
    *context.out << what << Printable(value, LineEnds::kEscape) << "\n";
  };
  line("job      ", job->name());
  line("name     ", job->display_name());
  line("state    ", StateName(job->state()));
  line("tasks    ", Summary(job->task_counts()));
  line("created  ", Local(job->create_time()));
  if (job->has_start_time()) line("started  ", Local(job->start_time()));
  if (job->has_end_time()) line("ended    ", Local(job->end_time()));
  line("took     ", Took(*job));
  if (job->has_error()) line("error    ", job->error().message());
  for (const auto& [key, value] : job->labels()) line("label    ", absl::StrCat(key, "=", value));
  return kSuccess;
}

struct CancelOptions {
  std::vector<std::string> jobs;
  std::string reason = "jackdaw cancel";
};

int Cancel(const Context& context, const CancelOptions& options) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  for (const std::string& name : options.jobs) {
    const absl::StatusOr<v1::Job> job = client->CancelJob(name, options.reason);
    if (!job.ok()) return context.Fail(job.status());
    if (context.json) {
      *context.out << ToJson(*job) << "\n";
    } else {
      *context.out << job->name() << " " << StateName(job->state()) << "\n";
    }
  }
  return kSuccess;
}

int Delete(const Context& context, const std::vector<std::string>& jobs) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  for (const std::string& name : jobs) {
    const absl::Status status = client->DeleteJob(name);
    if (!status.ok()) return context.Fail(status);
    *context.out << client::JobName(name) << " deleted\n";
  }
  return kSuccess;
}

void AddList(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "list", "List jobs, newest first",
                           "jackdaw list\n"
                           "jackdaw list --state running --state failed --limit 100");
  auto options = std::make_shared<ListOptions>();
  verb->add_option("--state", options->states, "Only jobs in this state; may be repeated")
      ->check(CLI::IsMember({"open", "running", "cancelling", "succeeded", "failed", "cancelled"}));
  verb->add_option("--limit", options->limit, "At most so many; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return List(context, *options); };
  });
}

void AddGet(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "get", "Show a job",
                           "jackdaw get jobs/nightly\n"
                           "jackdaw get nightly --json | jq -r .state");
  auto name = std::make_shared<std::string>();
  verb->add_option("JOB", *name, "The job: jobs/ID or ID")->required();
  AddJsonFlag(verb, context);
  verb->callback(
      [&context, &selected, name] { selected = [&context, name] { return Get(context, *name); }; });
}

void AddCancel(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb =
      AddVerb(app, "cancel", "Cancel jobs: what has not started never will, what runs is stopped",
              "jackdaw cancel nightly\n"
              "jackdaw cancel nightly --reason 'wrong input'");
  auto options = std::make_shared<CancelOptions>();
  verb->add_option("JOB", options->jobs, "The jobs: jobs/ID or ID")->required();
  verb->add_option("--reason", options->reason, "Why; becomes part of the job's error")
      ->capture_default_str();
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Cancel(context, *options); };
  });
}

void AddDelete(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb =
      AddVerb(app, "delete", "Forget jobs that are done, their tasks and outputs",
              "jackdaw delete nightly\n"
              "jackdaw cancel nightly && jackdaw watch nightly; jackdaw delete nightly");
  auto jobs = std::make_shared<std::vector<std::string>>();
  verb->add_option("JOB", *jobs, "The jobs: jobs/ID or ID")->required();
  verb->callback([&context, &selected, jobs] {
    selected = [&context, jobs] { return Delete(context, *jobs); };
  });
}

}  // namespace

void AddJobs(CLI::App& app, Context& context, Selected& selected) {
  AddList(app, context, selected);
  AddGet(app, context, selected);
  AddCancel(app, context, selected);
  AddDelete(app, context, selected);
}

}  // namespace jackdaw::cli
