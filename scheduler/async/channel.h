// Channel: a bounded queue between coroutines. Whoever finds it full or empty is suspended
// and holds no thread.
//
//   Future<void> pushing = channel.Push(std::move(page));
//   const absl::Status pushed = co_await pushing;
//
//   Future<Page> popping = channel.Pop();
//   absl::StatusOr<Page> page = co_await std::move(popping);
//
// For threads that block there is BlockingQueue.
//
// Thread safety: any thread, but for the destructor. Futures may outlive the channel.
//
// Invariants
//   (1) A value whose push succeeded comes out exactly once, in the order of the pushes, or
//       dies with the channel. One whose push failed never comes out.
//   (2) Pushes and pops are served in the order in which they came. Nobody waits while there
//       is room, or a value, for it: both change under one lock.
//   (3) Waiters are resolved outside the lock.
//
// Cancel: a push or pop that waits and is asked to (Future::RequestCancel()) leaves the line
// and resolves to CANCELLED; its value is destroyed. If its turn came first, it succeeds: so
// look at the result after the request. One whose futures were all dropped has left, too, as
// when a fiber was cancelled while it waited. A popped value that nobody takes from its future
// is lost: WithTimeout() may drop one, a request to cancel does not.
//
// Errors: OUT_OF_RANGE once closed, see IsClosed(); CANCELLED; RESOURCE_EXHAUSTED where
// kMaxWaiting wait already.

#ifndef JACKDAW_SCHEDULER_ASYNC_CHANNEL_H_
#define JACKDAW_SCHEDULER_ASYNC_CHANNEL_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "scheduler/async/channel_state.h"
#include "scheduler/async/closed.h"
#include "scheduler/async/future.h"

namespace jackdaw {

template <typename T>
class Channel {
 public:
  // Holds up to `capacity` values. With 0, a push waits until a pop takes its value.
  explicit Channel(std::size_t capacity)
      : state_(std::make_shared<async_internal::ChannelState<T>>(capacity)) {}
  // Closes. What was left inside is destroyed.
  ~Channel() { Close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Resolves once the value is inside, or handed to a pop.
  Future<void> Push(T value) { return state_->Push(value); }
  // Resolves to the oldest value. Once closed: to what is left, then to the closed error.
  Future<T> Pop() { return state_->Pop(); }

  // The same without waiting. A value that did not go in is left where it was.
  [[nodiscard]] Attempt TryPush(T& value) { return state_->TryPush(value); }
  [[nodiscard]] Attempt TryPop(std::optional<T>& value) { return state_->TryPop(value); }

  // Nothing goes in any more: pushes that wait fail, which frees producers of a channel that
  // nobody reads; so do pops, where nothing is left. Idempotent.
  void Close() { state_->Close(); }

  [[nodiscard]] bool is_closed() const { return state_->is_closed(); }
  // Values inside, at about this moment.
  [[nodiscard]] std::size_t size() const { return state_->size(); }
  [[nodiscard]] std::size_t capacity() const { return state_->capacity(); }

 private:
  const std::shared_ptr<async_internal::ChannelState<T>> state_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_CHANNEL_H_
