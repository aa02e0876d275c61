// `jackdaw bench`: measures a server with graphs of no-op tasks.

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/shapes.h"
#include "client/cli/text.h"
#include "client/cli/verbs.h"

namespace jackdaw::cli {
namespace {

constexpr std::int64_t kMaxTasks = 100'000'000;
constexpr int kMaxClients = 1000;
constexpr int kWarmUpCalls = 50;
// What a request holds beside the job.
constexpr std::int64_t kRequestOverheadBytes = 256;

struct Options {
  std::int64_t tasks = 100'000;
  std::string shape = "layered";
  std::string function = "noop";
  int clients = 1;
  int latency_calls = 1000;
};

struct Figures {
  std::int64_t tasks = 0;
  absl::Duration took;
  absl::Duration latency_p50;
  absl::Duration latency_p99;
};

Shape ShapeOf(const std::string& name) {
  for (const auto& [known, shape] : ShapeNames()) {
    if (known == name) return shape;
  }
  return Shape::kLayered;  // The command line lets only known names through.
}

// The share of client `i` when `tasks` are split evenly.
std::int64_t Share(const Options& options, int i) {
  return options.tasks / options.clients + (i < options.tasks % options.clients ? 1 : 0);
}

// The value that `share` of `sorted` do not exceed. Requires that it is not empty.
absl::Duration Quantile(const std::vector<absl::Duration>& sorted, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(place, sorted.size() - 1)];
}

absl::Status RunToSuccess(Client& client, v1::Job job) {
  Client::RunOptions options;
  options.final_only = true;
  const absl::StatusOr<v1::Job> done = client.RunJob(std::move(job), options);
  if (!done.ok()) return done.status();
  if (done->state() == v1::Job::STATE_SUCCEEDED) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(done->name(), " ended ", StateName(done->state()), ": ",
                                         done->error().message()));
}

// Each client submits its graph and waits for the end; all begin together.
absl::StatusOr<absl::Duration> MeasureGraphs(const std::vector<std::unique_ptr<Client>>& clients,
                                             std::vector<v1::Job> jobs) {
  std::vector<absl::Status> ends(clients.size());
  std::vector<std::thread> threads;
  const absl::Time start = absl::Now();
  for (std::size_t i = 1; i < clients.size(); ++i) {
    threads.emplace_back([&, i] { ends[i] = RunToSuccess(*clients[i], std::move(jobs[i])); });
  }
  ends[0] = RunToSuccess(*clients[0], std::move(jobs[0]));
  for (std::thread& thread : threads) thread.join();
  const absl::Duration took = absl::Now() - start;
  for (const absl::Status& end : ends) {
    if (!end.ok()) return end;
  }
  return took;
}

// Jobs of one task, one after the other on one connection.
absl::Status MeasureLatency(Client& client, const Options& options, Figures& figures) {
  const v1::Job one = MakeShape(Shape::kWide, 1, options.function).Take();
  std::vector<absl::Duration> spans;
  for (int i = -kWarmUpCalls; i < options.latency_calls; ++i) {
    const absl::Time start = absl::Now();
    if (const absl::Status end = RunToSuccess(client, one); !end.ok()) return end;
    if (i >= 0) spans.push_back(absl::Now() - start);
  }
  std::sort(spans.begin(), spans.end());
  figures.latency_p50 = Quantile(spans, 0.5);
  figures.latency_p99 = Quantile(spans, 0.99);
  return absl::OkStatus();
}

// A job travels in one message: says so, with both sizes, before the server would.
absl::Status CheckSize(Client& client, const Options& options, const std::vector<v1::Job>& jobs) {
  const absl::StatusOr<v1::Server> server = client.GetServer();
  if (!server.ok()) return server.status();
  const std::int64_t limit = server->limits().max_message_bytes();
  const auto bytes = static_cast<std::int64_t>(jobs[0].ByteSizeLong()) + kRequestOverheadBytes;
  if (limit <= 0 || bytes <= limit) return absl::OkStatus();
  const auto fits =
      static_cast<std::int64_t>(static_cast<double>(Share(options, 0)) *
                                static_cast<double>(limit) / static_cast<double>(bytes));
  return absl::InvalidArgumentError(absl::StrCat(
      "--tasks: ", Share(options, 0), " ", options.shape, " tasks in one job are a message of ",
      ReadableBytes(bytes), ", but this server takes at most ", ReadableBytes(limit),
      " (its --max-message-bytes): about ", fits, " tasks for each of --clients"));
}

absl::StatusOr<Figures> Measure(const std::vector<std::unique_ptr<Client>>& clients,
                                std::vector<v1::Job> jobs, const Options& options) {
  Figures figures;
  figures.tasks = options.tasks;
  // The connections are made before the clock starts.
  for (const auto& client : clients) {
    if (const auto server = client->GetServer(); !server.ok()) return server.status();
  }
  const absl::StatusOr<absl::Duration> took = MeasureGraphs(clients, std::move(jobs));
  if (!took.ok()) return took.status();
  figures.took = *took;
  const absl::Status latency = MeasureLatency(*clients[0], options, figures);
  if (!latency.ok()) return latency;
  return figures;
}

void Print(const Context& context, const Options& options, const Figures& figures) {
  const double seconds = absl::ToDoubleSeconds(figures.took);
  const double rate = static_cast<double>(figures.tasks) / seconds;
  const double p50 = absl::ToDoubleMicroseconds(figures.latency_p50);
  const double p99 = absl::ToDoubleMicroseconds(figures.latency_p99);
  if (context.json) {
    *context.out << JsonObject()
                        .Integer("tasks", figures.tasks)
                        .Number("seconds", seconds)
                        .Number("tasks_per_second", rate)
                        .Number("latency_p50_us", p50)
                        .Number("latency_p99_us", p99)
                        .str()
                 << "\n";
    return;
  }
  *context.out << absl::StreamFormat(
      "%d %s tasks calling %s, %d client(s): %.3f s, %.0f tasks/s\n"
      "one task, submit to result: p50 %.0f us, p99 %.0f us\n",
      figures.tasks, options.shape, options.function, options.clients, seconds, rate, p50, p99);
}

int Bench(const Context& context, const Options& options) {
  if (options.clients > options.tasks) {
    return context.FailUsage("--clients: expected no more clients than tasks");
  }
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < options.clients; ++i) {
    clients.push_back(context.Connect());
    if (clients.back() == nullptr) return kUsage;
  }
  // A server that is not there is said before minutes are spent on a graph for it.
  if (const auto server = clients[0]->GetServer(); !server.ok()) {
    return context.Fail(server.status());
  }
  std::vector<v1::Job> jobs;
  for (int i = 0; i < options.clients; ++i) {
    jobs.push_back(MakeShape(ShapeOf(options.shape), Share(options, i), options.function).Take());
  }
  if (const absl::Status size = CheckSize(*clients[0], options, jobs); !size.ok()) {
    return size.code() == absl::StatusCode::kInvalidArgument ? context.FailUsage(size.message())
                                                             : context.Fail(size);
  }
  const absl::StatusOr<Figures> figures = Measure(clients, std::move(jobs), options);
  if (!figures.ok()) return context.Fail(figures.status());
  Print(context, options, *figures);
  return kSuccess;
}

}  // namespace

void AddBench(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(
      app, "bench", "Measure a server with a graph of many small tasks",
      "jackdaw bench --tasks 100000 --shape layered\n"
      "jackdaw bench --tasks 100000 --shape chain --json\n"
      "jackdaw bench --tasks 40000 --shape wide --clients 4\n\n"
      "Seconds are from the call that submits the graph to the event that it is done; with\n"
      "several clients the tasks are split evenly, and it is from the first call to the last\n"
      "event. The latency is that of jobs of one task, RunJob to result, one after the other on\n"
      "one connection, after some that are not counted. Building the graph is not counted.");
  auto options = std::make_shared<Options>();
  std::vector<std::string> shapes;
  for (const auto& [name, shape] : ShapeNames()) shapes.push_back(name);
  verb->add_option("--tasks", options->tasks, "How many tasks in all")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMaxTasks));
  verb->add_option("--shape", options->shape, "How they depend on one another")
      ->capture_default_str()
      ->check(CLI::IsMember(shapes));
  verb->add_option("--function", options->function, "What they call")->capture_default_str();
  verb->add_option("--clients", options->clients, "Connections, each with its share")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxClients));
  verb->add_option("--latency-calls", options->latency_calls, "Jobs of one task to time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, options] {
    selected = [&context, options] { return Bench(context, *options); };
  });
}

}  // namespace jackdaw::cli
