// `jackdaw graph FILE|JOB`: the graph as text that other programs draw.

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/fetch_tasks.h"
#include "client/cli/graph_text.h"
#include "client/cli/verbs.h"
#include "client/jobfile/parse.h"

namespace jackdaw::cli {
namespace {

struct Options {
  std::string source;
  std::string format = "dot";
  // Larger drawings are of no use, and take Graphviz hours.
  std::int64_t limit = 2000;
};

void Print(const Context& context, const Options& options, const Graph& graph) {
  *context.out << (options.format == "dot" ? ToDot(graph) : ToMermaid(graph));
}

bool IsFile(const std::string& source) {
  std::error_code ignored;
  return source == "-" || (!absl::StartsWith(source, "jobs/") &&
                           std::filesystem::exists(std::filesystem::path(source), ignored));
}

int DrawFile(const Context& context, const Options& options) {
  const absl::StatusOr<jobfile::JobFile> file = jobfile::LoadJobFile(options.source);
  if (!file.ok()) return context.FailUsage(file.status().message());
  if (options.limit > 0 && file->tasks.size() > static_cast<std::size_t>(options.limit)) {
    return context.FailUsage(absl::StrCat(options.source, " has ", file->tasks.size(),
                                          " tasks, more than --limit ", options.limit));
  }
  Print(context, options, ToGraph(*file));
  return kSuccess;
}

int DrawJob(const Context& context, const Options& options) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<v1::Job> job = client->GetJob(options.source);
  if (!job.ok()) return context.Fail(job.status());
  if (options.limit > 0 && job->task_counts().total() > options.limit) {
    return context.FailUsage(absl::StrCat(job->name(), " has ", job->task_counts().total(),
                                          " tasks, more than --limit ", options.limit));
  }
  const auto tasks = FetchTasks(*client, job->name(), v1::TASK_VIEW_FULL, {}, 0);
  if (!tasks.ok()) return context.Fail(tasks.status());
  Print(context, options, ToGraph(job->name(), *tasks));
  return kSuccess;
}

int Draw(const Context& context, const Options& options) {
  return IsFile(options.source) ? DrawFile(context, options) : DrawJob(context, options);
}

}  // namespace

void AddGraph(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(
      app, "graph", "Print the graph of a job file or of a job, states in colour",
      "jackdaw graph examples/licenses.yaml | dot -Tsvg > licenses.svg   # needs no server\n"
      "jackdaw graph jobs/nightly --format mermaid");
  auto options = std::make_shared<Options>();
  verb->add_option("FILE|JOB", options->source, "A job file, or a job: jobs/ID or ID")->required();
  verb->add_option("--format", options->format, "For which program")
      ->capture_default_str()
      ->check(CLI::IsMember({"dot", "mermaid"}));
  verb->add_option("--limit", options->limit, "Refuse to draw more tasks; 0: draw any number")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Draw(context, *options); };
  });
}

}  // namespace jackdaw::cli
