#include "scheduler/pool/worker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "scheduler/pool/trace_sink.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

// Turns between two looks at shared work before the own deque, as in Go and Tokio. A prime,
// so that it does not fall into step with the program.
constexpr std::uint32_t kFairTurns = 61;
// Every so many turns what has a high priority does not go before all else.
constexpr std::uint32_t kUrgentTurns = 16;
// Most tasks taken from a work source at once. Few, so that the source can still order,
// weigh and cancel the rest.
constexpr std::size_t kSourceBatch = 32;
constexpr std::size_t kBatch = std::max(kSourceBatch, InjectorLanes::kMaxBatch);
// A search shorter than this is not worth the clock readings around it.
constexpr std::int64_t kShortestSpinNs = 1000;
// Longest pause between two sweeps, in pause instructions.
constexpr int kMostPauses = 64;

thread_local Worker* current_worker = nullptr;

void Relax(int pauses) {
  for (int i = 0; i < pauses; ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

// Makes `worker` the current one of this thread for a while.
class CurrentScope {
 public:
  explicit CurrentScope(Worker* worker) : before_(std::exchange(current_worker, worker)) {}
  ~CurrentScope() { current_worker = before_; }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  Worker* const before_;
};

}  // namespace

__attribute__((noinline)) Worker* Worker::Current() { return current_worker; }

__attribute__((noinline)) WorkerContext* WorkerContext::Current() { return current_worker; }

Worker::Worker(PoolCore& core, int index, std::uint64_t seed)
    : core_(core),
      trace_(core.trace),
      index_(index),
      is_extra_(index >= std::max(1, core.threads)),
      spin_budget_ns_(core.spin_ns / 2),
      random_(seed) {
  for (int i = 0; i < core.threads; ++i) {
    if (i != index) victims_.push_back(i);
  }
}

void Worker::Loop() {
  CurrentScope scope(this);
  (void)Now();
  while (core_.life.state() != PoolState::kStopped) {
    if (is_extra_ && core_.compensation.Retire()) return Leave();
    Found found = Next();
    if (found.task == nullptr) found = Search();
    if (found.task != nullptr) {
      LeaveSearch();
      RunUntilDry(found);
    } else {
      Park();
    }
  }
}

bool Worker::RunOne() {
  CurrentScope scope(this);
  const Found found = Next();
  if (found.task == nullptr) return false;
  // A task may call RunOne() in turn; its time is counted already.
  const bool outermost = !std::exchange(driven_, true);
  if (outermost) counters_.busy.Begin(Now());
  Execute(found);
  if (outermost) {
    counters_.busy.Finish(Now());
    driven_ = false;
  }
  return true;
}

// ---- finding ----

Worker::Found Worker::Next() {
  if (++turn_ % kFairTurns == 0) {
    const Found found = TakeForFairness();
    if (found.task != nullptr) return found;
  } else if (turn_ % kFairTurns == kFairTurns / 2) {
    const Steal oldest = deque_.StealTop();
    if (oldest.outcome == Steal::Outcome::kTaken) return {oldest.task, Origin::kOwnDeque};
  }
  if (IsSurplus()) return kNothing;
  if (core_.injector.HasUrgent() && turn_ % kUrgentTurns != 0) [[unlikely]] {
    const Found found = TakeInjected(1);
    if (found.task != nullptr) return found;
  }
  Task* task = mailbox_.Take();
  if (task != nullptr) return {task, Origin::kMailbox};
  task = deque_.PopBottom();
  if (task != nullptr) return {task, Origin::kOwnDeque};
  return TakeShared(kBatch);
}

// Takes at most `limit` tasks from the injector or else the source, keeps all but the first
// in the own deque, and returns the first.
Worker::Found Worker::TakeShared(std::size_t limit) {
  const Found found = TakeInjected(limit);
  return found.task != nullptr ? found : TakeFromSource(limit);
}

// One task from either, so that neither starves the other.
Worker::Found Worker::TakeForFairness() {
  if (turn_ / kFairTurns % 2 == 0) return TakeShared(1);
  const Found found = TakeFromSource(1);
  return found.task != nullptr ? found : TakeInjected(1);
}

Worker::Found Worker::TakeInjected(std::size_t limit) {
  if (core_.injector.SizeEstimate() == 0) return kNothing;
  std::array<Task*, kBatch> tasks;
  const std::size_t count =
      core_.injector.TakeBatch(absl::MakeSpan(tasks.data(), limit), core_.threads);
  return count == 0 ? kNothing : KeepRest(tasks.data(), count, Origin::kInjector);
}

Worker::Found Worker::TakeFromSource(std::size_t limit) {
  // What is still in a source when the pool is cancelled stays its owner's.
  if (core_.life.cancelling()) return kNothing;
  std::array<Task*, kBatch> tasks;
  const std::size_t count = core_.source.With(index_, std::size_t{0}, [&](WorkSource& source) {
    return source.Take(absl::MakeSpan(tasks.data(), std::min(limit, kSourceBatch)));
  });
  if (count == 0) return kNothing;
  counters_.pushed.Add(static_cast<std::int64_t>(count));
  return KeepRest(tasks.data(), count, Origin::kOwnDeque);
}

// Pushes the later tasks in reverse, so that this worker runs them in their order.
Worker::Found Worker::KeepRest(Task** tasks, std::size_t count, Origin origin) {
  for (std::size_t i = count; i > 1; --i) PushOwn(tasks[i - 1]);
  if (count > 1) Announce();
  return {tasks[0], origin};
}

Worker::Found Worker::Search() {
  if (!searching_) searching_ = core_.idle.TryStartSearching();
  if (!searching_) return kNothing;  // Half of the workers search already.
  const std::int64_t begin_ns = Now();
  Found found = kNothing;
  for (int sweep = 0, pauses = 1;; ++sweep) {
    // Its own mail first: it would rob another's else, while that one robs this.
    found = {mailbox_.Take(), Origin::kMailbox};
    if (found.task == nullptr) found = TakeShared(kBatch);
    if (found.task == nullptr) found = StealSweep();
    if (found.task == nullptr && std::exchange(may_rob_, true)) found = RobMailboxes();
    if (found.task != nullptr) {
      // Only what came during the wait shows that waiting pays.
      if (sweep > 0) spin_budget_ns_ = std::min(spin_budget_ns_ * 2, core_.spin_ns);
      break;
    }
    counters_.idle_spins.Add(1);
    const bool time_left = Now() - begin_ns < spin_budget_ns_;
    if (!time_left || core_.life.shutting_down()) {
      spin_budget_ns_ = std::min(core_.spin_ns, std::max(spin_budget_ns_ / 2, kShortestSpinNs));
      break;
    }
    Relax(pauses);
    pauses = std::min(pauses * 2, kMostPauses);
  }
  counters_.spin_ns.Add(Now() - begin_ns);
  return found;
}

// Tries every other worker once, in random order; again as long as it lost a race, for then
// there may be more.
Worker::Found Worker::StealSweep() {
  for (bool lost = true; lost;) {
    lost = false;
    for (std::size_t left = victims_.size(); left > 0; --left) {
      std::swap(victims_[left - 1], victims_[random_.Below(left)]);
      const Found found = StealFrom(victims_[left - 1], lost);
      if (found.task != nullptr) return found;
    }
    for (int extra = core_.threads; extra < core_.slots(); ++extra) {
      if (extra == index_) continue;
      const Found found = StealFrom(extra, lost);
      if (found.task != nullptr) return found;
    }
  }
  return kNothing;
}

Worker::Found Worker::StealFrom(int victim, bool& lost) {
  const Steal steal = core_.worker(victim).deque().StealTop();
  switch (steal.outcome) {
    case Steal::Outcome::kTaken:
      if (trace_ != nullptr) trace_->Steals(index_, victim, *steal.task);
      break;
    case Steal::Outcome::kEmpty:
      counters_.steals_empty.Add(1);
      break;
    case Steal::Outcome::kLost:
      counters_.steals_lost.Add(1);
      lost = true;
      break;
  }
  return {steal.task, Origin::kStolen};
}

Worker::Found Worker::RobMailboxes() {
  for (int victim : victims_) {
    Task* task = core_.worker(victim).mailbox_.Take();
    if (task == nullptr) continue;
    if (trace_ != nullptr) trace_->Steals(index_, victim, *task);
    return {task, Origin::kMailbox};
  }
  return kNothing;
}

void Worker::LeaveSearch() {
  woken_ = false;
  may_rob_ = false;
  if (!std::exchange(searching_, false)) return;
  core_.idle.StopSearching([this] { return WorkVisible(); });
}

// Whether work is anywhere that a worker can take it from.
bool Worker::WorkVisible() {
  if (core_.injector.HasTask()) return true;
  for (int i = 0; i < core_.slots(); ++i) {
    const Worker& worker = core_.worker(i);
    if (worker.deque_.HasTask() || worker.mailbox_.HasTask()) return true;
  }
  if (core_.life.state() == PoolState::kCancelling) return false;
  return core_.source.With(index_, false, [](WorkSource& source) { return source.HasWork(); });
}

// ---- running ----

void Worker::RunUntilDry(Found found) {
  counters_.busy.Begin(Now());
  do {
    Execute(found);
    found = Next();
  } while (found.task != nullptr);
  counters_.busy.Finish(Now());
}

void Worker::Execute(Found found) {
  if (core_.life.cancelling()) {
    found.task->Drop();
    counters_.dropped.Add(1);
  } else {
    // Counted first: whoever learns from the task that it ran finds it counted.
    counters_.tasks.Add(1);
    counters_.by_origin[static_cast<int>(found.origin)].Add(1);
    const Origin before = std::exchange(origin_, found.origin);
    if (trace_ == nullptr) [[likely]] {
      found.task->Run();
    } else {
      RunTraced(found);
    }
    origin_ = before;
  }
  counters_.finished.Publish(1);
}

__attribute__((noinline)) void Worker::RunTraced(Found found) {
  trace_->TaskBegins(index_, *found.task, found.origin);
  found.task->Run();
  trace_->TaskEnds(index_);
}

void Worker::Park() {
  overflowed_ = false;  // Nothing of this worker's is open now.
  if (std::exchange(woken_, false)) counters_.wakeups_without_work.Add(1);
  const bool shutting_down = core_.life.shutting_down();
  bool sleeps = false;
  const auto parked =
      core_.idle.Park(index_, std::exchange(searching_, false), [&](const auto& announced) {
        if (WorkVisible()) return true;
        if (IsSurplus()) return true;
        const bool all_parked = shutting_down && core_.idle.AllStayedParked(announced);
        const PoolLife::Next next = core_.life.After(shutting_down, all_parked);
        if (next == PoolLife::Next::kStop) core_.Stop();
        if (next != PoolLife::Next::kSleep) return true;
        sleeps = true;
        counters_.parks.Add(1);
        counters_.park.Begin(Now());
        if (trace_ != nullptr) trace_->Parks(index_);
        return false;
      });
  if (sleeps) {
    counters_.park.Finish(Now());
    counters_.wakeups.Add(1);
    if (trace_ != nullptr) trace_->Unparks(index_);
  }
  searching_ = true;
  woken_ = parked == IdleSet::Parked::kWoken;
  if (woken_) may_rob_ = false;
}

}  // namespace jackdaw
