// Graphs of no-op tasks through the job engine, beside the plain-stack floor: the same graph
// run by one thread with nothing but a stack and counters, no atomics, no states, no records.
// Both run each graph once, as it was just built: a job is not run twice.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bench/support/compare.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 7;
constexpr std::uint32_t kNodes = 1'000'000;
constexpr std::uint32_t kFanOutNodes = 10'000;

class Noop final : public Action {
 public:
  Noop() : Action("function", std::make_shared<ActionStats>("noop")) {}
  std::optional<Outcome> Start(Attempt&) override { return Outcome{}; }
  bool instant() const override { return true; }
};

// Keeps its worker busy for ten microseconds, like real work that is small.
class Spin final : public Action {
 public:
  Spin() : Action("function", std::make_shared<ActionStats>("spin")) {}
  std::optional<Outcome> Start(Attempt&) override {
    for (const double end = Now() + kSpinSeconds; Now() < end;) continue;
    return Outcome{};
  }

 private:
  static constexpr double kSpinSeconds = 10e-6;
};

using Graph = std::vector<std::vector<std::uint32_t>>;  // The dependencies of each node.

Graph Layered(std::uint32_t nodes) {
  constexpr std::uint32_t kWidth = 1000;
  Graph graph(nodes);
  for (std::uint32_t i = kWidth; i < nodes; ++i) {
    const std::uint32_t above = (i / kWidth - 1) * kWidth;
    for (std::uint32_t k = 0; k < 4; ++k) graph[i].push_back(above + (i * 7 + k * 131) % kWidth);
  }
  return graph;
}

Graph Chain(std::uint32_t nodes) {
  Graph graph(nodes);
  for (std::uint32_t i = 1; i < nodes; ++i) graph[i] = {i - 1};
  return graph;
}

Graph Wavefront(std::uint32_t nodes) {
  constexpr std::uint32_t kSide = 1000;
  Graph graph(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (i >= kSide) graph[i].push_back(i - kSide);
    if (i % kSide != 0) graph[i].push_back(i - 1);
  }
  return graph;
}

Graph Tree(std::uint32_t nodes) {
  Graph graph(nodes);
  for (std::uint32_t i = 1; i < nodes; ++i) graph[i] = {(i - 1) / 2};
  return graph;
}

// One task, then all the others.
Graph FanOut(std::uint32_t nodes) {
  Graph graph(nodes);
  for (std::uint32_t i = 1; i < nodes; ++i) graph[i] = {0};
  return graph;
}

// The floor. A node is 24 bytes: its count, its work, where its dependents are.
class PlainStack {
 public:
  explicit PlainStack(const Graph& graph) : nodes_(graph.size()) {
    std::vector<std::uint32_t> out(graph.size() + 1, 0);
    for (const auto& dependencies : graph) {
      for (const std::uint32_t d : dependencies) ++out[d + 1];
    }
    for (std::size_t i = 0; i < graph.size(); ++i) out[i + 1] += out[i];
    dependents_.resize(out.back());
    std::vector<std::uint32_t> next(out.begin(), out.end() - 1);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      nodes_[i] = {static_cast<std::uint32_t>(graph[i].size()), out[i], out[i + 1],
                   &PlainStack::Work};
      for (const std::uint32_t d : graph[i]) dependents_[next[d]++] = i;
    }
  }

  // Nanoseconds a node.
  double Run() {
    const double start = Now();
    std::vector<Node*> stack;
    for (Node& node : nodes_) {
      if (node.pending == 0) stack.push_back(&node);
    }
    std::size_t ran = 0;
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      node->work();
      ++ran;
      for (std::uint32_t e = node->first; e < node->last; ++e) {
        Node& dependent = nodes_[dependents_[e]];
        if (--dependent.pending == 0) stack.push_back(&dependent);
      }
    }
    const double seconds = Now() - start;
    if (ran != nodes_.size()) std::printf("the floor lost %zu nodes\n", nodes_.size() - ran);
    return 1e9 * seconds / static_cast<double>(ran);
  }

 private:
  struct Node {
    std::uint32_t pending;
    std::uint32_t first;
    std::uint32_t last;
    void (*work)();
  };
  [[gnu::noinline]] static void Work() { asm volatile(""); }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> dependents_;
};

TaskBatch ToBatch(const Graph& graph, const std::shared_ptr<Action>& action) {
  TaskBatch batch;
  batch.kinds.push_back({action, {}});
  batch.kind.assign(graph.size(), 0);
  for (const auto& dependencies : graph) {
    batch.dependency_count.push_back(static_cast<std::uint32_t>(dependencies.size()));
    for (const std::uint32_t d : dependencies) batch.dependencies.push_back(TaskBatch::InBatch(d));
  }
  return batch;
}

// What of this process is in memory now.
double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return static_cast<double>(resident_pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// A pool and an engine; runs a graph the way a job is run.
class Engine {
 public:
  Engine(int workers, std::shared_ptr<Action> action)
      : action_(std::move(action)),
        pool_({.workers = workers}),
        engine_({.pool = &pool_, .timers = &timers_}) {}

  struct Times {
    double build_ns = 0;  // A node.
    double run_ns = 0;
    double bytes = 0;  // Resident, of the job as long as it is kept, without the batch.
  };
  // Tasks start once the whole batch is linked, at the end of Create(), so the moment it
  // returns tells building and running apart.
  Times Run(const Graph& graph) {
    const double bytes_before = ResidentBytes();
    TaskBatch batch = ToBatch(graph, action_);
    JobOptions options;
    options.id = absl::StrCat("job", ++jobs_);
    const double start = Now();
    auto job = *engine_.Create(options, std::move(batch), /*seal=*/true);
    const double built = Now();
    job->Wait();
    const double done = Now();
    const auto nodes = static_cast<double>(graph.size());
    const JobSnapshot snapshot = job->Snapshot();
    if (snapshot.state != JobState::kSucceeded) std::printf("the job did not succeed\n");
    const double bytes = ResidentBytes() - bytes_before;
    return {1e9 * (built - start) / nodes, 1e9 * (done - built) / nodes, bytes / nodes};
  }

 private:
  const std::shared_ptr<Action> action_;
  WorkStealingPool pool_;
  TimerQueue timers_;
  JobEngine engine_;
  int jobs_ = 0;
};

void RunShape(const std::string& name, const Graph& graph) {
  Engine one(1, std::make_shared<Noop>());
  Engine two(2, std::make_shared<Noop>());
  Compare runs(absl::StrCat(name, ", ", graph.size(), " no-op nodes, run"), "ns a node");
  runs.Add("plain stack, one thread (floor)", [&] { return PlainStack(graph).Run(); });
  runs.Add("job engine, 1 worker", [&] { return one.Run(graph).run_ns; });
  runs.Add("job engine, 2 workers", [&] { return two.Run(graph).run_ns; });
  runs.Run(kRounds);
  Compare builds(absl::StrCat(name, ", build (validate, add, link)"), "ns a node");
  builds.Add("job engine", [&] { return one.Run(graph).build_ns; });
  builds.Run(kRounds);
}

// What two workers gain where each task is worth handing over.
void RunFanOut() {
  const Graph graph = FanOut(kFanOutNodes);
  Engine one(1, std::make_shared<Spin>());
  Engine two(2, std::make_shared<Spin>());
  Compare runs(absl::StrCat("fan-out of ", kFanOutNodes, " tasks of 10 microseconds"), "ns a node");
  runs.Add("job engine, 1 worker", [&] { return one.Run(graph).run_ns; });
  runs.Add("job engine, 2 workers", [&] { return two.Run(graph).run_ns; });
  runs.Run(kRounds);
}

void MeasureMemory(const Graph& graph) {
  Engine engine(1, std::make_shared<Noop>());
  Compare memory("layered, resident memory of a job that has run", "bytes a node");
  memory.Add("job engine", [&] { return engine.Run(graph).bytes; });
  memory.Run(kRounds);
}

}  // namespace
}  // namespace jackdaw::bench

int main() {
  using namespace jackdaw::bench;
  RunShape("layered (4 in-edges, layers of 1000)", Layered(kNodes));
  RunShape("chain", Chain(kNodes));
  RunShape("wavefront (1000 x 1000)", Wavefront(kNodes));
  RunShape("tree (binary)", Tree(kNodes));
  MeasureMemory(Layered(kNodes));
  RunFanOut();
  return 0;
}
