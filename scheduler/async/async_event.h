// AsyncEvent: something that happens once. Whoever waits for it is suspended until then.
//
//   Future<void> waiting = loaded.Wait();
//   const absl::Status status = co_await waiting;
//
// Each Wait() gives a future of its own, which can be cancelled without harm to the others;
// where that is not needed, a Promise<void> and its future do the same.
//
// Thread safety: any thread, but for the destructor. Futures may outlive the event.
//
// Errors: CANCELLED on request; ABORTED where the event was destroyed before it happened;
// RESOURCE_EXHAUSTED where kMaxWaiting wait already.

#ifndef JACKDAW_SCHEDULER_ASYNC_ASYNC_EVENT_H_
#define JACKDAW_SCHEDULER_ASYNC_ASYNC_EVENT_H_

#include <memory>

#include "scheduler/async/future.h"

namespace jackdaw {

class AsyncEvent {
 public:
  AsyncEvent();
  ~AsyncEvent();
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;

  // Resolves to OK once the event is set.
  Future<void> Wait();
  // Resolves all that wait, in the order in which they came. False if it was set before.
  bool Set();
  [[nodiscard]] bool is_set() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ASYNC_EVENT_H_
