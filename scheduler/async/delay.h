// Delay and WithTimeout: futures of time. No thread waits for them.
//
//   Future<void> pause = Delay(timers, absl::Seconds(1));
//   const absl::Status status = co_await pause;
//
// Thread safety: any thread. `timers` need not outlive the futures: when it dies first they
// resolve to ABORTED.

#ifndef JACKDAW_SCHEDULER_ASYNC_DELAY_H_
#define JACKDAW_SCHEDULER_ASYNC_DELAY_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scheduler/async/future.h"
#include "scheduler/async/timer_queue.h"

namespace jackdaw {

// Resolves to OK `delay` from now, by the clock of `timers`; to CANCELLED at once when asked
// to (Future::RequestCancel()), while `timers` lives.
Future<void> Delay(TimerQueue& timers, absl::Duration delay);

// The result of `future`, or DEADLINE_EXCEEDED when it takes longer than `limit`. Then, and
// when the returned future is asked to cancel, so is `future`.
template <typename T>
Future<T> WithTimeout(TimerQueue& timers, absl::Duration limit, Future<T> future) {
  auto promise = std::make_shared<Promise<T>>(future.cell()->completer());
  Future<T> limited = promise->future();
  Future<void> timer = Delay(timers, limit);
  promise->OnCancel([future] { future.RequestCancel(); });
  timer.OnReady([promise, future, limit](const absl::Status& status) {
    if (!status.ok()) return;
    if (promise->TryFulfil(absl::DeadlineExceededError(
            absl::StrCat("no result after ", absl::FormatDuration(limit))))) {
      future.RequestCancel();
    }
  });
  std::move(future).AddCallback([promise, timer](Future<T> ready) {
    promise->DropCancelCallbacks();
    // Refused where the time was over first. Only then is the result of no use to anybody.
    promise->TryFulfil(std::move(ready).Take());
    timer.RequestCancel();
  });
  return limited;
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_DELAY_H_
