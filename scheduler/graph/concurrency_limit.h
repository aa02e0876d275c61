// ConcurrencyLimit: how many attempts may be under way at once among the actions that share
// it. A task beyond that waits here, oldest first, and stays QUEUED.
//
// Thread safety: every method from any thread.
//
// Invariants
//   (1) At most `limit` slots are held. Each successful Acquire() is matched by one Release().
//   (2) While a task waits, all slots are held or promised to tasks on their way back.

#ifndef JACKDAW_SCHEDULER_GRAPH_CONCURRENCY_LIMIT_H_
#define JACKDAW_SCHEDULER_GRAPH_CONCURRENCY_LIMIT_H_

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace jackdaw {

class TaskCell;

class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(int limit) : limit_(limit) {}  // At least 1.

  // Takes a slot for `cell`, or puts it on the waiting list and returns false.
  [[nodiscard]] bool Acquire(TaskCell* cell);

  // Gives a slot back. Returns the task that waited longest, if any: the slot is promised to
  // it, and its next Acquire() succeeds. The caller queues it again.
  [[nodiscard]] TaskCell* Release();

  // `cell` will not come: passes its promised slot on, if it has one. Returns as Release().
  [[nodiscard]] TaskCell* Forget(TaskCell* cell);

  [[nodiscard]] int limit() const { return limit_; }
  [[nodiscard]] std::int64_t in_use() const;
  [[nodiscard]] std::int64_t waiting() const;

 private:
  TaskCell* PassOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int limit_;
  mutable absl::Mutex mutex_;
  std::int64_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;  // Promised ones included.
  std::deque<TaskCell*> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<TaskCell*> promised_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_CONCURRENCY_LIMIT_H_
