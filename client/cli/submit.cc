// `jackdaw submit FILE`: submits a job file and leaves.

#include <memory>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/file_job.h"
#include "client/cli/json.h"
#include "client/cli/verbs.h"
#include "client/jobfile/parse.h"

namespace jackdaw::cli {
namespace {

struct Options {
  std::string file;
  Client::CreateOptions create;
};

int Submit(const Context& context, const Options& options) {
  const absl::StatusOr<jobfile::JobFile> file = jobfile::LoadJobFile(options.file);
  if (!file.ok()) return context.FailUsage(file.status().message());
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<v1::Job> job = client->CreateJob(ToJob(*file), options.create);
  if (!job.ok()) return context.Fail(job.status());
  if (context.json) {
    *context.out << ToJson(*job) << "\n";
  } else if (options.create.validate_only) {
    *context.out << options.file << " is right\n";
  } else {
    *context.out << job->name() << "\n";
  }
  return kSuccess;
}

}  // namespace

void AddSubmit(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb =
      AddVerb(app, "submit", "Submit a job file and print the job's name",
              "jackdaw submit examples/licenses.yaml\n"
              "jackdaw watch $(jackdaw submit nightly.yaml)\n"
              "jackdaw submit nightly.yaml --request-id nightly-2026-12-01  # once only\n"
              "jackdaw submit nightly.yaml --validate-only");
  auto options = std::make_shared<Options>();
  verb->add_option("FILE", options->file, "The job file, YAML or JSON; - is standard input")
      ->required();
  verb->add_option("--job-id", options->create.job_id,
                   "The job's id (default: the server's choice)");
  verb->add_option("--request-id", options->create.request_id,
                   "Submitting the same again under the same request id makes no second job");
  verb->add_flag("--validate-only", options->create.validate_only,
                 "Let the server check everything, and start nothing");
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Submit(context, *options); };
  });
}

}  // namespace jackdaw::cli
