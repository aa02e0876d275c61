#include "scheduler/async/delay.h"

namespace jackdaw {

Future<void> Delay(TimerQueue& timers, absl::Duration delay) {
  auto promise = std::make_shared<Promise<void>>();
  Future<void> future = promise->future();
  const TimerQueue::TimerId timer =
      timers.After(delay, [promise] { promise->TryFulfil(absl::OkStatus()); });
  // The timer holds the promise, and the callback only a view of it: a queue that dies
  // breaks the promise. The callback is gone once there is a result.
  promise->OnCancel([&timers, timer, view = std::weak_ptr<Promise<void>>(promise)] {
    const std::shared_ptr<Promise<void>> alive = view.lock();
    if (alive == nullptr) return;
    alive->TryFulfil(CancelRequestedError());
    timers.Cancel(timer);
  });
  return future;
}

}  // namespace jackdaw
