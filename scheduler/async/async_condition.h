// AsyncCondition: lets a coroutine that holds an AsyncMutex wait, without the lock, until
// another one says that something changed.
//
//   while (queue.empty()) {
//     Future<AsyncMutex::Guard> waiting = changed.Wait(*std::move(guard));
//     guard = co_await std::move(waiting);
//     if (!guard.ok()) co_return guard.status();
//   }
//
// Thread safety: any thread, but for the destructor. Futures may outlive the condition.
//
// Invariants
//   (1) A notification wakes only those who waited before it, and is never lost on one whose
//       future nobody holds, or that was cancelled: those have left the line.
//   (2) Whoever is notified goes to the end of the line of its mutex, and resolves with the
//       lock. From then on a request to cancel comes too late.
//   There are no wake-ups without a notification. A loop is needed all the same: between the
//   notification and the lock others may have had it.
//
// Errors, all without the lock: CANCELLED on request; ABORTED where the condition, or the
// mutex, was destroyed; RESOURCE_EXHAUSTED where kMaxWaiting wait already.

#ifndef JACKDAW_SCHEDULER_ASYNC_ASYNC_CONDITION_H_
#define JACKDAW_SCHEDULER_ASYNC_ASYNC_CONDITION_H_

#include <memory>

#include "scheduler/async/async_mutex.h"
#include "scheduler/async/future.h"

namespace jackdaw {

class AsyncCondition {
 public:
  AsyncCondition();
  ~AsyncCondition();
  AsyncCondition(const AsyncCondition&) = delete;
  AsyncCondition& operator=(const AsyncCondition&) = delete;

  // Unlocks, waits for a notification, locks again. Requires: `guard` holds a lock.
  Future<AsyncMutex::Guard> Wait(AsyncMutex::Guard guard);

  // Wakes the one that has waited longest, or all. Best while holding the lock.
  void NotifyOne();
  void NotifyAll();

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ASYNC_CONDITION_H_
