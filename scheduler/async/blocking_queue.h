// BlockingQueue: a bounded queue between threads. Whoever finds it full or empty blocks. For
// threads of one's own, and for workers of a runner meant to block; coroutines and workers of
// a compute pool use Channel, which suspends the task and keeps the thread.
//
// Thread safety: any thread, but for the destructor.
//
// Invariants
//   (1) A value whose push succeeded comes out exactly once, in the order of the pushes, or
//       dies with the queue. One whose push failed never comes out.
//   (2) Nobody sleeps while there is room, or a value, for it.

#ifndef JACKDAW_SCHEDULER_ASYNC_BLOCKING_QUEUE_H_
#define JACKDAW_SCHEDULER_ASYNC_BLOCKING_QUEUE_H_

#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/closed.h"

namespace jackdaw {

template <typename T>
class BlockingQueue {
 public:
  // Holds up to `limit` values, at least 1.
  explicit BlockingQueue(std::size_t limit) : limit_(limit) {}
  BlockingQueue(const BlockingQueue&) = delete;
  BlockingQueue& operator=(const BlockingQueue&) = delete;

  // Blocks until there is room. False once closed: the value did not go in.
  [[nodiscard]] bool Push(T value) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &BlockingQueue::HasRoomOrIsClosed));
    if (closed_) return false;
    values_.push_back(std::move(value));
    return true;
  }

  // Blocks until there is a value; the oldest. Nothing once closed and empty.
  [[nodiscard]] std::optional<T> Pop() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &BlockingQueue::HasValueOrIsClosed));
    return TakeFirst();
  }

  // Blocks until there is a value, and moves all there are to the end of `batch`, the oldest
  // first: one lock for many values. How many; 0 once closed and empty.
  [[nodiscard]] std::size_t Transfer(std::deque<T>& batch) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::deque<T> taken;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &BlockingQueue::HasValueOrIsClosed));
      taken.swap(values_);
    }
    const std::size_t count = taken.size();
    if (batch.empty()) {
      batch.swap(taken);
    } else {
      batch.insert(batch.end(), std::make_move_iterator(taken.begin()),
                   std::make_move_iterator(taken.end()));
    }
    return count;
  }

  // The same without waiting. A value that did not go in is left where it was.
  [[nodiscard]] Attempt TryPush(T& value) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (closed_) return Attempt::kClosed;
    if (values_.size() >= limit_) return Attempt::kWouldWait;
    values_.push_back(std::move(value));
    return Attempt::kDone;
  }
  [[nodiscard]] Attempt TryPop(std::optional<T>& value) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (values_.empty()) return closed_ ? Attempt::kClosed : Attempt::kWouldWait;
    value = TakeFirst();
    return Attempt::kDone;
  }

  // Nothing goes in any more, and nobody blocks any more. Idempotent.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }

  [[nodiscard]] bool is_closed() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }
  // Values inside, at about this moment.
  [[nodiscard]] std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return values_.size();
  }
  [[nodiscard]] std::size_t limit() const { return limit_; }

 private:
  bool HasRoomOrIsClosed() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return closed_ || values_.size() < limit_;
  }
  bool HasValueOrIsClosed() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return closed_ || !values_.empty();
  }
  std::optional<T> TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (values_.empty()) return std::nullopt;
    std::optional<T> first(std::move(values_.front()));
    values_.pop_front();
    return first;
  }

  const std::size_t limit_;
  mutable absl::Mutex mutex_;
  std::deque<T> values_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_BLOCKING_QUEUE_H_
