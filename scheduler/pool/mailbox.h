// Mailbox: tasks that asked for one particular worker, because it has their data in its caches.
// That worker takes them before its own deque; the others rob it once a sweep over everything
// else has found nothing, so that a wish never strands work.
//
// Thread safety: every method from any thread. Nothing blocks beyond a short lock.
//
// Invariant: after Close() returned, Push() from outside refuses.
//
// Memory order: the size is stored and loaded seq_cst, for the two-phase park of idle_set.h.
//
// Limit: none of its own; whoever accepts work from clients limits it.

#ifndef JACKDAW_SCHEDULER_POOL_MAILBOX_H_
#define JACKDAW_SCHEDULER_POOL_MAILBOX_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/pool/task.h"
#include "scheduler/pool/task_ring.h"

namespace jackdaw {

class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Appends `task` from outside of the pool. False once the mailbox is closed: the task stays
  // the caller's.
  [[nodiscard]] bool Push(Task* task) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (closed_) return false;
    // Counted before the task can be taken.
    from_outside_.store(from_outside_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    Append(task);
    return true;
  }

  // Appends what a task of the pool sends, closed or not.
  void PushOwn(Task* task) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    Append(task);
  }

  // Takes the oldest task, or null if there is none. A look alone where it is empty.
  [[nodiscard]] Task* Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (size_.load(std::memory_order_relaxed) == 0) return nullptr;
    absl::MutexLock lock(&mutex_);
    if (ring_.empty()) return nullptr;
    Task* task = ring_.Pop();
    size_.store(static_cast<std::int64_t>(ring_.size()), std::memory_order_seq_cst);
    return task;
  }

  // Refuses further Push().
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }

  // Whether a task is there. seq_cst, see above.
  [[nodiscard]] bool HasTask() const { return size_.load(std::memory_order_seq_cst) != 0; }

  // How many tasks Push() ever accepted.
  [[nodiscard]] std::int64_t from_outside() const {
    return from_outside_.load(std::memory_order_relaxed);
  }

 private:
  void Append(Task* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ring_.Push(task);
    size_.store(static_cast<std::int64_t>(ring_.size()), std::memory_order_seq_cst);
  }

  // Its worker reads the size before each task; all is written only when there is mail.
  alignas(kCacheLine) std::atomic<std::int64_t> size_{0};
  std::atomic<std::int64_t> from_outside_{0};
  absl::Mutex mutex_;
  TaskRing ring_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_MAILBOX_H_
