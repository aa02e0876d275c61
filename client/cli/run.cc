// `jackdaw run FILE`: submits a job file, follows the job and shows its results.

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/exit_code.h"
#include "client/cli/file_job.h"
#include "client/cli/follow.h"
#include "client/cli/interrupt.h"
#include "client/cli/json.h"
#include "client/cli/results.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"
#include "client/cpp/convert.h"
#include "client/jobfile/parse.h"

namespace jackdaw::cli {
namespace {

struct Options {
  std::string file;
  std::string job_id;
  bool quiet = false;
};

// What Ctrl-C does: the first cancels the job, the second leaves at once.
class Interruption {
 public:
  explicit Interruption(const Context& context) : context_(context) {}
  ~Interruption() {
    if (canceller_.joinable()) canceller_.join();
  }

  // From here on a signal finds whom to ask. Both outlive this object's use.
  void Attach(Client* client, Reporter* reporter) {
    const absl::MutexLock lock(&mutex_);
    client_ = client;
    reporter_ = reporter;
  }

  // The job can be cancelled from here on; does so if that was wished before.
  void SetJob(const std::string& name) {
    const absl::MutexLock lock(&mutex_);
    if (!job_.empty()) return;
    job_ = name;
    if (wished_) Cancel();
  }

  void OnSignal(int count) {
    const absl::MutexLock lock(&mutex_);
    if (count > 1 || client_ == nullptr) {
      if (!job_.empty()) {
        *context_.err << "left " << job_ << "; look at it with: jackdaw get "
                      << client::LastPart(job_) << std::endl;
      }
      std::_Exit(kInterrupted);
    }
    wished_ = true;
    reporter_->Say("cancelling the job; press Ctrl-C again to leave at once");
    if (!job_.empty()) Cancel();
  }

 private:
  // On a thread of its own: the second signal must not wait for the server.
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    canceller_ = std::thread([client = client_, reporter = reporter_, job = job_] {
      const auto cancelled = client->CancelJob(job, "Ctrl-C in jackdaw run");
      if (!cancelled.ok())
        reporter->Say(absl::StrCat("cannot cancel: ", cancelled.status().ToString()));
    });
  }

  const Context& context_;
  absl::Mutex mutex_;
  Client* client_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Reporter* reporter_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::string job_ ABSL_GUARDED_BY(mutex_);
  bool wished_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread canceller_;
};

std::vector<std::string> Ids(const jobfile::JobFile& file) {
  std::vector<std::string> ids;
  for (const jobfile::Task& task : file.tasks) ids.push_back(task.id);
  return ids;
}

std::unique_ptr<Reporter> ReporterFor(const Context& context, const Options& options,
                                      const jobfile::JobFile& file) {
  Progress progress(file.name, Ids(file));
  if (context.json || options.quiet) return MakeSilentReporter(context, std::move(progress));
  return MakeReporter(context, std::move(progress));
}

void PrintJson(const Context& context, const v1::Job& job, const std::vector<v1::Task>& results) {
  std::vector<std::string> shown;
  for (const v1::Task& task : results) {
    if (task.state() == v1::Task::STATE_SUCCEEDED) {
      shown.push_back(
          OutputToJson(client::LastPart(task.name()), task.output(), task.output_bytes()));
    }
  }
  *context.out << JsonObject().Raw("job", ToJson(job)).Raw("results", JsonArray(shown)).str()
               << "\n";
}

void PrintText(const Context& context, const v1::Job& job, const std::vector<v1::Task>& results,
               const std::vector<Failure>& failures, std::size_t sinks) {
  *context.out << FormatEnd(job);
  for (const Failure& failure : failures) *context.out << "\n" << FormatFailure(failure);
  if (job.task_counts().failed() > static_cast<std::int64_t>(failures.size())) {
    *context.out << "... all that failed: jackdaw tasks " << client::LastPart(job.name())
                 << " --state failed\n";
  }
  for (const v1::Task& task : results) {
    if (task.state() != v1::Task::STATE_FAILED) {
      *context.out << "\n" << FormatResult(job.name(), task);
    }
  }
  if (sinks > results.size()) {
    *context.out << "\n... and "
                 << Count(static_cast<std::int64_t>(sinks - results.size()), "more result") << "\n";
  }
}

int ShowEnd(const Context& context, const Options& options, Client& client, const v1::Job& job,
            const jobfile::JobFile& file) {
  if (options.quiet && !context.json) return ExitCodeOf(job);
  std::vector<std::string> sinks;
  for (const std::uint32_t place : Sinks(file)) sinks.push_back(file.tasks[place].id);
  const auto results = FetchResults(client, job.name(), sinks);
  if (!results.ok()) return context.Fail(results.status());
  if (context.json) {
    PrintJson(context, job, *results);
    return ExitCodeOf(job);
  }
  std::vector<Failure> failures;
  if (job.task_counts().failed() > 0) {
    auto fetched = FetchFailures(client, job.name());
    if (!fetched.ok()) return context.Fail(fetched.status());
    failures = *std::move(fetched);
  }
  PrintText(context, job, *results, failures, sinks.size());
  return ExitCodeOf(job);
}

int Run(const Context& context, const Options& options) {
  const absl::StatusOr<jobfile::JobFile> file = jobfile::LoadJobFile(options.file);
  if (!file.ok()) return context.FailUsage(file.status().message());
  // The guard catches signals before gRPC starts threads. It ends first, then the
  // interruption, whose canceller uses the other two.
  std::unique_ptr<Client> client;
  std::unique_ptr<Reporter> reporter;
  Interruption interruption(context);
  const InterruptGuard guard([&](int count) { interruption.OnSignal(count); });
  client = context.Connect();
  if (client == nullptr) return kUsage;
  reporter = ReporterFor(context, options, *file);
  interruption.Attach(client.get(), reporter.get());

  Client::RunOptions run;
  run.job_id = options.job_id;
  run.task_updates = v1::TASK_UPDATES_STATES;
  const auto watch = client->StartJob(ToJob(*file), run);
  const absl::StatusOr<v1::Job> job = Follow(*watch, *reporter, [&](const v1::JobEvent& event) {
    if (event.has_job()) interruption.SetJob(event.job().name());
  });
  if (!job.ok()) return context.Fail(job.status());
  return ShowEnd(context, options, *client, *job, *file);
}

}  // namespace

void AddRun(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb =
      AddVerb(app, "run", "Submit a job file, follow the job and show its results",
              "jackdaw run examples/hello.yaml\n"
              "jackdaw run examples/licenses.yaml --json | jq -r '.results[].output'\n"
              "generate-job | jackdaw run -\n\n"
              "Progress goes to standard error, results to standard output. The first\n"
              "Ctrl-C cancels the job, the second leaves at once. Exit code 0 only if\n"
              "the job SUCCEEDED.");
  auto options = std::make_shared<Options>();
  verb->add_option("FILE", options->file, "The job file, YAML or JSON; - is standard input")
      ->required();
  verb->add_option("--job-id", options->job_id, "The job's id (default: the server's choice)");
  verb->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Run(context, *options); };
  });
}

}  // namespace jackdaw::cli
