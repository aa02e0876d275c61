#include "server/metrics.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/errors.h"
#include "server/metric_families.h"
#include "server/process_stats.h"

namespace jackdaw {
namespace {

using Labels = MetricFamilies::Labels;

constexpr double kSecondsPerNanosecond = 1e-9;

double Seconds(std::int64_t ns) { return kSecondsPerNanosecond * static_cast<double>(ns); }

std::string Lower(absl::string_view name) { return absl::AsciiStrToLower(name); }

// What is told of each worker of one runner.
void AddWorkers(const WorkStealingPool& pool, MetricFamilies& out) {
  const std::vector<WorkerStats> workers = pool.worker_stats();
  const std::string runner(pool.name());
  const auto each = [&](MetricFamilies::Family family, auto value) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      family.Add({{"runner", runner}, {"worker", absl::StrCat(i)}}, value(workers[i]));
    }
  };
  // One series a worker and value of a further label.
  const auto split = [&](MetricFamilies::Family family, const std::string& label, auto values) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      for (const auto& [value, count] : values(workers[i])) {
        family.Add({{"runner", runner}, {"worker", absl::StrCat(i)}, {label, value}}, count);
      }
    }
  };
  using Split = std::vector<std::pair<std::string, std::int64_t>>;
  split(out.Counter("jackdaw_worker_tasks_total",
                    "Pieces of work that a worker ran, by where it found them."),
        "source", [](const WorkerStats& w) {
          return Split{{"own", w.from_own_deque},
                       {"stolen", w.from_steals},
                       {"injector", w.from_injector},
                       {"mailbox", w.from_mailbox},
                       {"inline", w.inline_runs}};
        });
  split(
      out.Counter("jackdaw_worker_steals_total",
                  "Attempts of a worker to steal from another, by outcome."),
      "outcome", [](const WorkerStats& w) {
        return Split{{"taken", w.steals_taken}, {"empty", w.steals_empty}, {"lost", w.steals_lost}};
      });
  each(out.Counter("jackdaw_worker_idle_spins_total",
                   "Fruitless looks of a worker at every place where work could be."),
       [](const WorkerStats& w) { return w.idle_spins; });
  each(out.Gauge("jackdaw_worker_queue_depth", "Pieces of work in a worker's deque."),
       [](const WorkerStats& w) { return w.queue_depth; });
  each(out.Counter("jackdaw_worker_spin_seconds_total", "Time that a worker spent searching."),
       [](const WorkerStats& w) { return Seconds(w.spin_ns); });
  each(out.Counter("jackdaw_worker_park_seconds_total",
                   "Time that a worker spent asleep, the current sleep included."),
       [](const WorkerStats& w) { return Seconds(w.park_ns); });
  each(out.Counter("jackdaw_worker_busy_seconds_total", "Time that a worker spent with work."),
       [](const WorkerStats& w) { return Seconds(w.busy_ns); });
  each(out.Counter("jackdaw_worker_parks_total", "How often a worker went to sleep."),
       [](const WorkerStats& w) { return w.parks; });
  each(out.Counter("jackdaw_worker_wakeups_total", "How often a worker woke up."),
       [](const WorkerStats& w) { return w.wakeups; });
  each(out.Counter("jackdaw_worker_queue_grows_total", "How often a worker's deque grew."),
       [](const WorkerStats& w) { return w.queue_grows; });
}

void AddRunner(const WorkStealingPool& pool, MetricFamilies& out) {
  const PoolStats stats = pool.stats();
  const Labels runner = {{"runner", std::string(pool.name())}};
  out.Gauge("jackdaw_runner_workers", "Workers of a runner.")
      .Add(runner, std::int64_t{stats.workers});
  out.Gauge("jackdaw_runner_searching_workers", "Workers of a runner that look for work now.")
      .Add(runner, std::int64_t{stats.searching});
  out.Gauge("jackdaw_runner_parked_workers", "Workers of a runner that are asleep now.")
      .Add(runner, std::int64_t{stats.parked});
  out.Gauge("jackdaw_runner_injector_depth",
            "Pieces of work from outside that wait for a worker of a runner.")
      .Add(runner, stats.injector_depth);
  out.Counter("jackdaw_runner_injected_total", "Pieces of work that came to a runner from outside.")
      .Add(runner, stats.injected);
}

// What is told of each action: functions, and programs as far as they are told apart.
void AddActions(const Functions& functions, const Commands& commands, MetricFamilies& out) {
  struct Entry {
    Labels labels;
    ActionStats::Snapshot stats;
  };
  std::vector<Entry> actions;
  const auto read = [&](const char* kind, const ActionStats& stats) {
    actions.push_back(
        {{{"action", std::string(stats.metric_name())}, {"kind", kind}}, stats.Read()});
  };
  for (const auto& action : functions.actions()) read("function", *action->stats());
  for (const auto& stats : commands.stats()) read("command", *stats);

  auto tasks = out.Counter("jackdaw_tasks_total", "Tasks that ended, by action and outcome.");
  for (const Entry& action : actions) {
    for (int i = 0; i < kTaskStateCount; ++i) {
      const auto state = static_cast<TaskState>(i);
      if (!IsTerminal(state)) continue;
      Labels labels = action.labels;
      labels.push_back({"outcome", Lower(Name(state))});
      tasks.Add(std::move(labels), action.stats.ended[static_cast<std::size_t>(i)]);
    }
  }
  auto attempts = out.Counter("jackdaw_task_attempts_total", "Attempts that ended, by action.");
  for (const Entry& action : actions) attempts.Add(action.labels, action.stats.attempts);
  auto retries = out.Counter("jackdaw_task_retries_total",
                             "Attempts that failed and were followed by another, by action.");
  for (const Entry& action : actions) retries.Add(action.labels, action.stats.retries);
  auto queue = out.Histogram("jackdaw_task_queue_seconds",
                             "Time that attempts waited from ready to start, by action.");
  for (const Entry& action : actions) queue.Add(action.labels, action.stats.queue_time);
  auto run = out.Histogram("jackdaw_task_run_seconds",
                           "Time that attempts took from start to end, by action.");
  for (const Entry& action : actions) run.Add(action.labels, action.stats.run_time);
  out.Gauge("jackdaw_commands_running", "Processes that run as tasks now.")
      .Add({}, commands.running());
}

void AddJobs(const JobTable& table, const JobNames& names, MetricFamilies& out) {
  const JobTable::Counts counts = table.counts();
  auto jobs = out.Gauge("jackdaw_jobs", "Jobs that the server keeps, by state.");
  auto ended = std::vector<std::pair<std::string, std::int64_t>>();
  for (int i = 0; i < kJobStateCount; ++i) {
    const auto state = static_cast<JobState>(i);
    jobs.Add({{"state", Lower(Name(state))}}, counts.jobs[static_cast<std::size_t>(i)]);
    if (IsTerminal(state)) {
      ended.emplace_back(Lower(Name(state)), counts.ended[static_cast<std::size_t>(i)]);
    }
  }
  auto outcomes = out.Counter("jackdaw_jobs_total", "Jobs that ended, by outcome.");
  for (const auto& [outcome, count] : ended) outcomes.Add({{"outcome", outcome}}, count);
  out.Counter("jackdaw_jobs_created_total", "Jobs that were accepted.").Add({}, counts.created);
  out.Counter("jackdaw_jobs_refused_total", "Jobs that were refused because of the load.")
      .Add({}, counts.refused);
  out.Gauge("jackdaw_active_tasks", "Tasks of the jobs that are not done.")
      .Add({}, counts.active_tasks);
  auto by_name = out.Counter("jackdaw_job_tasks_total",
                             "Tasks of finished jobs, by the job's display name and outcome.");
  for (const auto& [name, tasks] : names.Read()) {
    for (int i = 0; i < kTaskStateCount; ++i) {
      const auto state = static_cast<TaskState>(i);
      if (!IsTerminal(state)) continue;
      by_name.Add({{"job_name", name}, {"outcome", Lower(Name(state))}},
                  tasks[static_cast<std::size_t>(i)]);
    }
  }
}

void AddRpcs(const RpcCounters& rpcs, MetricFamilies& out) {
  auto calls = out.Counter("jackdaw_rpcs_total", "Calls that ended, by method and status code.");
  for (const RpcCounters::Method& method : rpcs.methods()) {
    for (int code = 0; code < RpcCounters::kCodes; ++code) {
      calls.Add({{"method", method.name}, {"code", CodeName(static_cast<absl::StatusCode>(code))}},
                method.ended[static_cast<std::size_t>(code)].load(std::memory_order_relaxed));
    }
  }
  const auto each_stream = [&](MetricFamilies::Family family, auto value) {
    for (const RpcCounters::Method& method : rpcs.methods()) {
      if (method.kind != RpcCounters::Kind::kStream) continue;
      family.Add({{"method", method.name}}, (method.*value).load(std::memory_order_relaxed));
    }
  };
  each_stream(out.Gauge("jackdaw_rpc_streams", "Streams under way, by method."),
              &RpcCounters::Method::streams);
  each_stream(out.Gauge("jackdaw_rpc_pending_messages",
                        "Messages of streams that wait for their clients to take them, by method."),
              &RpcCounters::Method::pending_messages);
}

void AddProcess(MetricFamilies& out, absl::Time start_time, const std::string& version) {
  const ProcessStats stats = ReadProcessStats();
  out.Counter("process_cpu_seconds_total", "Processor time that the process used.")
      .Add({}, stats.cpu_seconds);
  out.Gauge("process_resident_memory_bytes", "Memory of the process that is resident.")
      .Add({}, stats.resident_bytes);
  out.Gauge("process_open_fds", "File descriptors that the process has open.")
      .Add({}, stats.open_fds);
  out.Gauge("process_max_fds", "File descriptors that the process may have open.")
      .Add({}, stats.max_fds);
  out.Gauge("process_threads", "Threads of the process.").Add({}, stats.threads);
  out.Gauge("process_start_time_seconds", "When the process started, in seconds since 1970.")
      .Add({}, absl::ToDoubleSeconds(start_time - absl::UnixEpoch()));
  out.Gauge("jackdaw_build_info", "Always 1; the labels tell what was built.")
      .Add({{"version", version}, {"compiler", "gcc " __VERSION__}}, 1.0);
}

}  // namespace

Metrics::Metrics(Sources sources) : sources_(std::move(sources)) {}

std::vector<prometheus::MetricFamily> Metrics::Collect() const {
  MetricFamilies out;
  AddWorkers(*sources_.pool, out);
  AddRunner(*sources_.pool, out);
  out.Gauge("jackdaw_ready_tasks", "Tasks that are ready and not yet in a worker's deque.")
      .Add({}, sources_.engine->stats().ready_tasks);
  AddActions(*sources_.functions, *sources_.commands, out);
  AddJobs(*sources_.table, *sources_.job_names, out);
  AddRpcs(*sources_.rpcs, out);
  AddProcess(out, sources_.start_time, sources_.version);
  return out.Take();
}

}  // namespace jackdaw
