// Injector: the queue through which work from outside reaches a pool's workers, first in,
// first out. Other threads never touch a worker's deque; they come here.
//
// Thread safety: every method from any thread. Nothing blocks beyond a short lock.
//
// Invariants
//   (1) After Close() returned, Push() refuses, and what it accepted before is in the queue
//       or was taken.
//   (2) The size that HasTask() reads is that of the queue at the end of some critical
//       section.
//
// Memory order: the size is stored and loaded seq_cst, for the two-phase park of
// idle_set.h: who pushes and then looks for parked workers, and who announces and then looks
// here, cannot miss each other.
//
// Limit: none of its own; whoever accepts work from clients limits it (see the admission
// limits of the server). Memory beyond kKeptCapacity is given back when the queue runs empty.

#ifndef JACKDAW_SCHEDULER_POOL_INJECTOR_H_
#define JACKDAW_SCHEDULER_POOL_INJECTOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class Injector {
 public:
  static constexpr std::size_t kKeptCapacity = 1024;  // Tasks.
  static constexpr std::size_t kMaxBatch = 32;        // Tasks that one TakeBatch() may give.

  Injector() = default;
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  // Appends `task`, which must not be null. False once the injector is closed: the task
  // stays the caller's.
  [[nodiscard]] bool Push(Task* task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Appends what a worker's full deque hands back. Closed or not: the pool has accepted
  // these tasks already, so they do not count as injected either.
  void PushOverflow(absl::Span<Task* const> tasks) ABSL_LOCKS_EXCLUDED(mutex_);

  // Moves the oldest tasks to the front of `out` and returns how many: a fair share for one
  // of `workers`, which is size / workers + 1, at most kMaxBatch and at most fit.
  [[nodiscard]] std::size_t TakeBatch(absl::Span<Task*> out, int workers)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes `task` out, wherever it stands. False if it is not here. Looks at the newest first,
  // one by one.
  [[nodiscard]] bool Remove(const Task* task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Refuses further Push().
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether a task is queued. seq_cst, see above.
  [[nodiscard]] bool HasTask() const { return size_.load(std::memory_order_seq_cst) != 0; }

  // How many tasks are queued, at about this moment.
  [[nodiscard]] std::int64_t SizeEstimate() const { return size_.load(std::memory_order_relaxed); }

  // How many tasks Push() ever accepted.
  [[nodiscard]] std::int64_t injected() const { return injected_.load(std::memory_order_relaxed); }

 private:
  void Append(Task* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Read by every worker on every look for work; written under the lock.
  alignas(kCacheLine) std::atomic<std::int64_t> size_{0};
  // Written by submitters, under the lock.
  alignas(kCacheLine) std::atomic<std::int64_t> injected_{0};
  absl::Mutex mutex_;
  // A ring of a power of two; the oldest task is at head_ & (capacity_ - 1).
  std::unique_ptr<Task*[]> ring_ ABSL_GUARDED_BY(mutex_);
  std::size_t capacity_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t head_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t tail_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_INJECTOR_H_
