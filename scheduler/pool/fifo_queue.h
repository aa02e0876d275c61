// FifoQueue: the one queue of a runner that runs its tasks oldest first, and that runner's
// state. Internal to scheduler/pool.
//
// Thread safety: every method from any thread. Only Take() and TakeUnless() wait.
//
// Invariants
//   (1) Each task that Push() accepted is taken once, and Finish() follows.
//   (2) Once it is over (closed, empty, and nothing taken is unfinished) it stays over.
//
// Limit: none of its own; whoever accepts work from clients limits it.

#ifndef JACKDAW_SCHEDULER_POOL_FIFO_QUEUE_H_
#define JACKDAW_SCHEDULER_POOL_FIFO_QUEUE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/task.h"
#include "scheduler/pool/task_ring.h"

namespace jackdaw {

class FifoQueue {
 public:
  // Who pushes. Once closed, only the queue's own tasks may, until it is over.
  enum class From { kOutside, kOwnTask };

  // A task and what to do with it. Null: there is none, for Take() never again.
  struct Taken {
    Task* task;
    Task::Verb verb;
  };
  static constexpr Taken kNothing = {nullptr, Task::Verb::kRun};

  FifoQueue() = default;
  FifoQueue(const FifoQueue&) = delete;
  FifoQueue& operator=(const FifoQueue&) = delete;

  // Appends `task`. False, and nothing happened, where that is refused.
  [[nodiscard]] bool Push(Task* task, From from) ABSL_LOCKS_EXCLUDED(mutex_);

  // The oldest task; waits for one. Null once the queue is over.
  [[nodiscard]] Taken Take() ABSL_LOCKS_EXCLUDED(mutex_);
  // The oldest task, or null where there is none.
  [[nodiscard]] Taken TryTake() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for a task or for Set(flag): null where the flag is set, or the queue closed and empty.
  [[nodiscard]] Taken TakeUnless(const bool& flag) ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets `flag`, which TakeUnless() may be watching. It may die once it is seen to be set.
  void Set(bool& flag) ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] bool IsSet(const bool& flag) const ABSL_LOCKS_EXCLUDED(mutex_);

  // A task that was taken has been run or dropped.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Refuses work from outside. kCancel: what is queued, and what comes, is to be dropped.
  void Close(ShutdownMode mode) ABSL_LOCKS_EXCLUDED(mutex_);

  // Tasks queued or taken and not finished.
  [[nodiscard]] std::int64_t count() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  [[nodiscard]] Taken Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] bool is_over() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ && unfinished_ == 0;
  }

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  TaskRing ring_ ABSL_GUARDED_BY(mutex_);
  std::int64_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;  // Queued, or taken and not finished.
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_FIFO_QUEUE_H_
