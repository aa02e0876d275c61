// What a running task may have done by its worker: pushing, taking back, blocking.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "scheduler/pool/trace_sink.h"
#include "scheduler/pool/worker.h"

namespace jackdaw {

void Worker::Push(Task* task) {
  if (trace_ != nullptr) trace_->Spawns(index_, *task);
  counters_.pushed.Add(1);
  PushOwn(task);
  Announce();
}

// With a private part, what is pushed stays there while all are busy and find something older
// that is shared. Once somebody is idle it must be in sight: the forking task may not look again
// before it joins.
void Worker::PushFork(Task* task) {
  if (trace_ != nullptr) trace_->Spawns(index_, *task);
  counters_.pushed.Add(1);
  PushOwn(task);
  if constexpr (WorkerDeque::kHasPrivatePart) {
    const bool all_busy = core_.idle.searching() == 0 && core_.idle.parked() == 0;
    if (all_busy && !deque_.NothingIsShared()) return ShareIfAsked();
  }
  Announce();
}

void Worker::PushTo(Worker& to, Task* task) {
  if (trace_ != nullptr) trace_->Spawns(index_, *task);
  counters_.pushed.Add(1);
  to.mailbox_.PushOwn(task);
  // Where that worker is up, another may have to come for what it does not get to.
  if (!core_.idle.WakeWorker(to.index_)) core_.idle.NotifyWork();
}

void Worker::PushWith(Priority priority, Task* task) {
  if (trace_ != nullptr) trace_->Spawns(index_, *task);
  counters_.pushed.Add(1);
  core_.injector.PushOverflow(absl::MakeConstSpan(&task, 1), priority);
  core_.idle.NotifyWork();
}

void Worker::PushBehind(Task* task) { PushWith(Priority::kNormal, task); }

bool Worker::TakeBack(Task* task) {
  Task* newest = deque_.PopBottom();
  if (newest != task && !FindBelow(newest, task)) {
    // An overflow may have given it away, and nobody have come for it.
    if (!overflowed_ || !core_.injector.Remove(task)) {
      BeforeWait();
      return false;
    }
  }
  ShareIfAsked();
  counters_.tasks.Add(1);
  counters_.by_origin[static_cast<int>(Origin::kOwnDeque)].Add(1);
  counters_.finished.Publish(1);
  return true;
}

// Looks for `task` under `newest`, which was popped and may be null, and pushes the others
// again in their order.
bool Worker::FindBelow(Task* newest, Task* task) {
  std::vector<Task*> above;
  Task* found = newest;
  while (found != nullptr && found != task) {
    above.push_back(found);
    found = deque_.PopBottom();
  }
  for (; !above.empty(); above.pop_back()) PushOwn(above.back());
  BeforeWait();  // As they were, or may have been.
  return found == task && task != nullptr;
}

bool Worker::RunOldestOf(int index, Task::Invoke kind) {
  const Steal steal = core_.workers[static_cast<std::size_t>(index)]->deque_.StealTop();
  if (steal.outcome != Steal::Outcome::kTaken) return false;
  if (!steal.task->Is(kind)) {
    core_.injector.PushOverflow(absl::MakeConstSpan(&steal.task, 1));
    core_.idle.NotifyWork();
    return false;
  }
  if (trace_ != nullptr) trace_->Steals(index_, index, *steal.task);
  Execute({steal.task, Origin::kStolen});
  return true;
}

void Worker::PushOwn(Task* task) {
  if (deque_.PushBottom(task)) return;
  GiveAway(deque_.SizeEstimate() / 2);
  core_.idle.NotifyWork();
  // A second refusal is not possible: thieves only make room.
  if (!deque_.PushBottom(task)) __builtin_trap();
}

// Hands about `count_wanted` of the oldest tasks of the deque to everybody.
void Worker::GiveAway(std::int64_t count_wanted) {
  overflowed_ = true;
  (void)deque_.ShareAll();  // The callers notify.
  std::array<Task*, 256> tasks;
  for (std::int64_t left = count_wanted; left > 0;) {
    std::size_t count = 0;
    for (; count < tasks.size() && left > 0; --left) {
      const Steal steal = deque_.StealTop();
      if (steal.outcome == Steal::Outcome::kTaken) tasks[count++] = steal.task;
    }
    core_.injector.PushOverflow(absl::MakeConstSpan(tasks.data(), count));
  }
}

bool Worker::ShouldYield() const { return core_.injector.SizeEstimate() != 0; }

void Worker::CountInline(std::int64_t count) {
  counters_.tasks.Add(count);
  counters_.by_origin[static_cast<int>(Origin::kInline)].Add(count);
}

// ---- blocking ----

void Worker::BeginBlocking() {
  if (core_.threads == 0 || blocking_depth_++ != 0) return;
  BeforeWait();
  // Whoever relied on this worker to get to what is visible must not any more.
  if (!core_.StandIn()) core_.idle.NotifyWork();
}

void Worker::EndBlocking() {
  if (core_.threads == 0 || --blocking_depth_ != 0) return;
  if (!core_.compensation.End()) return;
  // One that is up sees by itself that it is one too many.
  for (int extra = core_.threads; extra < core_.slots(); ++extra) {
    if (core_.idle.WakeWorker(extra)) return;
  }
}

bool Worker::IsSurplus() const { return is_extra_ && core_.compensation.surplus(); }

// An extra worker's last act.
void Worker::Leave() {
  while (deque_.HasTask()) GiveAway(deque_.SizeEstimate());
  LeaveSearch();
  core_.idle.NotifyWork();
  // The others may all have parked before a shutdown could count on this one being gone.
  if (core_.idle.RemoveWorker() && core_.life.shutting_down()) core_.idle.WakeAll();
}

}  // namespace jackdaw
