// ChannelState: what is behind a Channel, which documents it: the values, those who wait, and
// the lock of both. Shared with the callbacks that wait for a request to cancel, which may
// outlive the channel.
//
// Thread safety: any thread. Promises are resolved, and values of others destroyed, outside
// the lock.

#ifndef JACKDAW_SCHEDULER_ASYNC_CHANNEL_STATE_H_
#define JACKDAW_SCHEDULER_ASYNC_CHANNEL_STATE_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/closed.h"
#include "scheduler/async/future.h"
#include "scheduler/async/wait_line.h"

namespace jackdaw::async_internal {

template <typename T>
class ChannelState : public std::enable_shared_from_this<ChannelState<T>> {
 public:
  explicit ChannelState(std::size_t capacity) : capacity_(capacity) {}

  Future<void> Push(T& value) ABSL_LOCKS_EXCLUDED(mutex_) {
    Handover handover;
    Attempt attempt;
    {
      absl::MutexLock lock(&mutex_);
      attempt = Put(value, handover);
      if (attempt == Attempt::kWouldWait) {
        return pushes_.Add(value, this->weak_from_this(), &ChannelState::CancelPush,
                           handover.unwanted_pushes);
      }
    }
    if (handover.pop) handover.pop->promise.Fulfil(std::move(value));
    return Future<void>::Ready(attempt == Attempt::kDone ? absl::OkStatus() : ClosedError());
  }

  Future<T> Pop() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<T> value;
    Handover handover;
    Attempt attempt;
    {
      absl::MutexLock lock(&mutex_);
      attempt = Get(value, handover);
      if (attempt == Attempt::kWouldWait) {
        std::monostate nothing;
        return pops_.Add(nothing, this->weak_from_this(), &ChannelState::CancelPop,
                         handover.unwanted_pops);
      }
    }
    if (handover.push) handover.push->promise.Fulfil();
    if (attempt == Attempt::kClosed) return Future<T>::Ready(ClosedError());
    return Future<T>::Ready(*std::move(value));
  }

  Attempt TryPush(T& value) ABSL_LOCKS_EXCLUDED(mutex_) {
    Handover handover;
    Attempt attempt;
    {
      absl::MutexLock lock(&mutex_);
      attempt = Put(value, handover);
    }
    if (handover.pop) handover.pop->promise.Fulfil(std::move(value));
    return attempt;
  }

  Attempt TryPop(std::optional<T>& value) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<T> taken;
    Handover handover;
    Attempt attempt;
    {
      absl::MutexLock lock(&mutex_);
      attempt = Get(taken, handover);
    }
    if (handover.push) handover.push->promise.Fulfil();
    if (attempt == Attempt::kDone) value.emplace(*std::move(taken));
    return attempt;
  }

  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<typename Pushes::Waiting> pushes;
    std::vector<typename Pops::Waiting> pops;
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
      pushes = pushes_.TakeAll();
      pops = pops_.TakeAll();
    }
    for (const auto& push : pushes) push.promise.Fulfil(ClosedError());
    for (const auto& pop : pops) pop.promise.Fulfil(ClosedError());
  }

  bool is_closed() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return values_.size();
  }
  std::size_t capacity() const { return capacity_; }

 private:
  using Pushes = WaitLine<void, T>;
  using Pops = WaitLine<T, std::monostate>;

  // Whose turn came under the lock, for the caller to resolve outside.
  struct Handover {
    std::optional<typename Pops::Waiting> pop;     // Gets the value that was to be put.
    std::optional<typename Pushes::Waiting> push;  // Its value went in.
    std::vector<typename Pops::Waiting> unwanted_pops;
    std::vector<typename Pushes::Waiting> unwanted_pushes;
  };

  Attempt Put(T& value, Handover& handover) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (closed_) return Attempt::kClosed;
    // A pop waits only where nothing is inside and no push waits.
    handover.pop = pops_.TakeFirstWanted(handover.unwanted_pops);
    if (handover.pop) return Attempt::kDone;
    if (values_.size() >= capacity_) return Attempt::kWouldWait;
    values_.push_back(std::move(value));
    return Attempt::kDone;
  }

  Attempt Get(std::optional<T>& value, Handover& handover) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // A push waits only where there is no room: its value goes to the end of what is inside.
    handover.push = pushes_.TakeFirstWanted(handover.unwanted_pushes);
    if (handover.push) values_.push_back(std::move(handover.push->need));
    if (values_.empty()) return closed_ ? Attempt::kClosed : Attempt::kWouldWait;
    value.emplace(std::move(values_.front()));
    values_.pop_front();
    return Attempt::kDone;
  }

  void CancelPush(typename Pushes::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<typename Pushes::Waiting> push;
    {
      absl::MutexLock lock(&mutex_);
      push = pushes_.Take(ticket);
    }
    if (push) push->promise.Fulfil(CancelRequestedError());
  }
  void CancelPop(typename Pops::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<typename Pops::Waiting> pop;
    {
      absl::MutexLock lock(&mutex_);
      pop = pops_.Take(ticket);
    }
    if (pop) pop->promise.Fulfil(CancelRequestedError());
  }

  const std::size_t capacity_;
  mutable absl::Mutex mutex_;
  std::deque<T> values_ ABSL_GUARDED_BY(mutex_);
  Pushes pushes_ ABSL_GUARDED_BY(mutex_);
  Pops pops_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw::async_internal

#endif  // JACKDAW_SCHEDULER_ASYNC_CHANNEL_STATE_H_
