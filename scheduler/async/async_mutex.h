// AsyncMutex: a lock for coroutines. It may be held over a co_await, waits without a thread,
// and is given back by whichever thread the coroutine is on by then.
//
//   Future<AsyncMutex::Guard> locking = mutex.Lock();
//   const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
//   if (!guard.ok()) co_return guard.status();
//   ...  // Unlocks when the guard dies.
//
// For a few instructions without a co_await, Guarded costs less.
//
// Thread safety, order, cancelling and errors: as AsyncSemaphore says. First come, first
// served. Not recursive: who asks for it again while holding it waits for ever.

#ifndef JACKDAW_SCHEDULER_ASYNC_ASYNC_MUTEX_H_
#define JACKDAW_SCHEDULER_ASYNC_ASYNC_MUTEX_H_

#include <optional>

#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/future.h"

namespace jackdaw {

class AsyncMutex {
 public:
  // Holds the lock while it lives.
  using Guard = AsyncSemaphore::Permit;

  // Resolves to the lock.
  Future<Guard> Lock() { return semaphore_.Acquire(); }
  // Nothing where somebody holds it, or waits for it.
  [[nodiscard]] std::optional<Guard> TryLock() { return semaphore_.TryAcquire(); }

 private:
  AsyncSemaphore semaphore_{1};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ASYNC_MUTEX_H_
