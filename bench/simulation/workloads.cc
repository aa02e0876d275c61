#include "bench/simulation/workloads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/synchronization/notification.h"
#include "scheduler/async/fork_node.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/base/clock.h"
#include "scheduler/pool/work_deque.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw::bench {
namespace {

// One run of a workload: its clock, who took part, what the workers counted meanwhile.
class Round {
 public:
  explicit Round(WorkStealingPool& pool)
      : pool_(pool), firsts_(static_cast<std::size_t>(pool.size())) {}

  // The first task calls this first of all.
  void Begin() {
    before_ = Counts();
    begin_ns_ = Nanos();
  }

  // Every task that computes.
  void Work(double compute_ns) {
    First& first = firsts_[static_cast<std::size_t>(WorkerContext::Current()->index())];
    if (first.at_ns == 0) first.at_ns = Nanos();
    Compute(compute_ns);
  }

  // The last task calls this last of all.
  void End() {
    const std::int64_t end_ns = Nanos();
    const Outcome after = Counts();
    outcome_ = {.elapsed_ns = static_cast<double>(end_ns - begin_ns_),
                .engaged_ns = 0,
                .engaged = 0,
                .tasks = after.tasks - before_.tasks,
                .steals = after.steals - before_.steals,
                .steals_empty = after.steals_empty - before_.steals_empty,
                .steals_lost = after.steals_lost - before_.steals_lost,
                .wakeups = after.wakeups - before_.wakeups,
                .parks = after.parks - before_.parks};
    done_.Notify();
  }

  [[nodiscard]] Outcome Await() {
    done_.WaitForNotification();
    for (const First& first : firsts_) {
      if (first.at_ns == 0) continue;
      ++outcome_.engaged;
      outcome_.engaged_ns =
          std::max(outcome_.engaged_ns, static_cast<double>(first.at_ns - begin_ns_));
    }
    return outcome_;
  }

 private:
  struct alignas(kCacheLine) First {
    std::int64_t at_ns = 0;
  };

  static std::int64_t Nanos() { return Clock::Real().MonotonicNanos(); }

  [[nodiscard]] Outcome Counts() const {
    Outcome sum = {};
    for (const WorkerStats& worker : pool_.worker_stats()) {
      sum.tasks += worker.tasks;
      sum.steals += worker.steals_taken;
      sum.steals_empty += worker.steals_empty;
      sum.steals_lost += worker.steals_lost;
      sum.wakeups += worker.wakeups;
      sum.parks += worker.parks;
    }
    return sum;
  }

  WorkStealingPool& pool_;
  std::vector<First> firsts_;
  Outcome before_ = {};
  std::int64_t begin_ns_ = 0;
  Outcome outcome_ = {};
  absl::Notification done_;
};

// ---- fork and join ----

void ForkTree(Round& round, int depth, double compute_ns);

class ForkedTree final : public ForkNode {
 public:
  ForkedTree(Round& round, int depth, double compute_ns)
      : ForkNode(&ForkedTree::Call), round_(round), depth_(depth), compute_ns_(compute_ns) {
    Offer();
  }
  void Join() { JoinNode(); }

 private:
  static void Call(ForkNode* node, Verb) noexcept {
    auto* self = static_cast<ForkedTree*>(node);
    ForkTree(self->round_, self->depth_, self->compute_ns_);
  }
  Round& round_;
  const int depth_;
  const double compute_ns_;
};

void ForkTree(Round& round, int depth, double compute_ns) {
  if (depth == 0) return round.Work(compute_ns);
  ForkedTree left(round, depth - 1, compute_ns);
  ForkTree(round, depth - 1, compute_ns);
  left.Join();
}

// ---- tasks that wait for nobody ----

// Counts its children down instead of waiting for them; the last one to end ends its parent.
class alignas(64) Node final : public Task {
 public:
  Node() : Task(&Node::Call) {}

  std::atomic<int> open{0};  // Children that have not ended, and itself.
  Node* parent = nullptr;
  std::size_t index = 0;
  class Nodes* nodes = nullptr;

 private:
  static void Call(Task* task, Verb) noexcept;
};

// The nodes of one workload, made before it starts.
class Nodes {
 public:
  Nodes(Shape shape, std::size_t count, double compute_ns)
      : shape_(shape), compute_ns_(compute_ns), count_(count), nodes_(new Node[count]) {}

  Node& Root(Round& round) {
    round_ = &round;
    return Prepare(0, nullptr);
  }

  void Run(Node& node) {
    if (node.index == 0) round_->Begin();
    if (node.index == 0 || shape_ == Shape::kSpawnTree) PushChildren(node);
    round_->Work(compute_ns_);
    for (Node* ended = &node; ended->open.fetch_sub(1, std::memory_order_acq_rel) == 1;) {
      if (ended->parent == nullptr) return round_->End();
      ended = ended->parent;
    }
  }

 private:
  // Fanned out tasks are counted in so many groups, for one counter would be what is measured.
  static constexpr std::size_t kGroups = 64;

  Node& Prepare(std::size_t index, Node* parent) {
    Node& node = nodes_[index];
    node.open.store(1, std::memory_order_relaxed);
    node.parent = parent;
    node.index = index;
    node.nodes = this;
    return node;
  }

  void PushChildren(Node& node) {
    if (shape_ == Shape::kFanOut) return PushGroups(node);
    const std::size_t first = node.index * 2 + 1;
    const std::size_t end = std::min(first + 2, count_);
    if (first >= end) return;
    node.open.fetch_add(static_cast<int>(end - first), std::memory_order_relaxed);
    for (std::size_t i = first; i < end; ++i) {
      WorkerContext::Current()->Push(&Prepare(i, &node));
    }
  }

  // The first kGroups children of the root stand for the group that follows them.
  void PushGroups(Node& root) {
    const std::size_t groups = std::min(kGroups, count_ - 1);
    root.open.fetch_add(static_cast<int>(groups), std::memory_order_relaxed);
    for (std::size_t i = 1; i < count_; ++i) {
      Node* group = i <= groups ? &root : &nodes_[(i - 1) % groups + 1];
      Prepare(i, group);
    }
    for (std::size_t i = groups + 1; i < count_; ++i) {
      nodes_[i].parent->open.fetch_add(1, std::memory_order_relaxed);
    }
    for (std::size_t i = 1; i < count_; ++i) WorkerContext::Current()->Push(&nodes_[i]);
  }

  const Shape shape_;
  const double compute_ns_;
  const std::size_t count_;
  const std::unique_ptr<Node[]> nodes_;
  Round* round_ = nullptr;
};

void Node::Call(Task* task, Verb) noexcept {
  auto* node = static_cast<Node*>(task);
  node->nodes->Run(*node);
}

// The first task of a tree of forks.
class ForkRoot final : public Task {
 public:
  ForkRoot(Round& round, const Setup& setup)
      : Task(&ForkRoot::Call), round_(round), setup_(setup) {}

 private:
  static void Call(Task* task, Verb) noexcept {
    auto* self = static_cast<ForkRoot*>(task);
    self->round_.Begin();
    ForkTree(self->round_, self->setup_.log_tasks, self->setup_.compute_ns);
    self->round_.End();
  }
  Round& round_;
  const Setup& setup_;
};

Outcome RunRound(WorkStealingPool& pool, const Setup& setup, Nodes& nodes) {
  while (pool.stats().parked != pool.size()) sched_yield();
  Round round(pool);
  ForkRoot forks(round, setup);
  Task* first = &forks;
  if (setup.shape != Shape::kForkJoin) first = &nodes.Root(round);
  (void)pool.Submit(first);
  return round.Await();
}

// Pushes empty tasks and, to run when they have run, itself.
class Burst final : public Task {
 public:
  Burst() : Task(&Burst::Call) {}

  // Nanoseconds a task.
  [[nodiscard]] double Await() {
    done_.WaitForNotification();
    return static_cast<double>(end_ns_ - begin_ns_) / (kBursts * (kEmptyTasks + 1));
  }

 private:
  static constexpr int kBursts = 2000;
  static constexpr int kEmptyTasks = 100;
  class Empty final : public Task {
   public:
    constexpr Empty() : Task([](Task*, Verb) noexcept {}) {}
  };

  static void Call(Task* task, Verb) noexcept {
    auto* self = static_cast<Burst*>(task);
    if (self->left_ == kBursts) self->begin_ns_ = Clock::Real().MonotonicNanos();
    if (self->left_-- > 0) return self->PushAll();
    self->end_ns_ = Clock::Real().MonotonicNanos();
    self->done_.Notify();
  }
  void PushAll() {
    WorkerContext& worker = *WorkerContext::Current();
    worker.Push(this);
    for (int i = 0; i < kEmptyTasks; ++i) worker.Push(&empty_);
  }

  Empty empty_;
  int left_ = kBursts;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  absl::Notification done_;
};

}  // namespace

Outcome RunPool(const Setup& setup) {
  WorkStealingPool pool({.workers = setup.workers, .seed = setup.seed});
  const bool has_nodes = setup.shape != Shape::kForkJoin;
  Nodes nodes(setup.shape, has_nodes ? std::size_t{1} << setup.log_tasks : 1, setup.compute_ns);
  (void)RunRound(pool, setup, nodes);
  std::vector<Outcome> outcomes;
  for (int i = 0; i < setup.rounds; ++i) outcomes.push_back(RunRound(pool, setup, nodes));
  const auto middle = outcomes.begin() + setup.rounds / 2;
  std::nth_element(outcomes.begin(), middle, outcomes.end(),
                   [](const auto& a, const auto& b) { return a.elapsed_ns < b.elapsed_ns; });
  return *middle;
}

double EmptyTaskNanos() {
  WorkStealingPool pool({.workers = 1});
  Burst burst;
  (void)pool.Submit(&burst);
  return burst.Await();
}

}  // namespace jackdaw::bench
