// What `co_await` of a future does; see co_task.h, which includes this.
//
// Thread safety: an awaiter lives in the coroutine that awaits.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_AWAITER_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_AWAITER_H_

#include <coroutine>
#include <utility>

#include "scheduler/async/co_run.h"
#include "scheduler/async/future.h"
#include "scheduler/async/future_result.h"

namespace jackdaw {
namespace async_internal {

// Awaits a future that lives in the awaiting coroutine or longer.
template <typename F>
struct FutureAwaiter {
  F& future;

  bool await_ready() const noexcept { return future.is_ready() && CoRun::MayGoOn(); }
  // False: it is ready, or became ready meanwhile. After a hand-over the coroutine may be running
  // on another thread, or be gone.
  template <typename P>
  bool await_suspend(std::coroutine_handle<P> handle) const noexcept {
    return handle.promise().run->SuspendOn(*future.cell(), handle.promise());
  }
};

// What an await gives that ended without a result: its fiber was cancelled.
template <typename T>
const FutureResult<T>& Interrupted() {
  static const FutureResult<T> interrupted(CancelRequestedError());
  return interrupted;
}

template <typename T>
struct SharedAwaiter : FutureAwaiter<const Future<T>> {
  const FutureResult<T>& await_resume() const {
    const FutureResult<T>* result = this->future.Peek();
    return result == nullptr ? Interrupted<T>() : *result;
  }
};

template <typename T>
struct TakingAwaiter : FutureAwaiter<Future<T>> {
  FutureResult<T> await_resume() const {
    if (this->future.is_ready()) return std::move(this->future).Take();
    this->future.RequestCancel();
    return CancelRequestedError();
  }
};

}  // namespace async_internal

template <typename T>
auto operator co_await(const Future<T>& future) {
  return async_internal::SharedAwaiter<T>{{future}};
}
template <typename T>
auto operator co_await(Future<T>&& future) {
  return async_internal::TakingAwaiter<T>{{future}};
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_AWAITER_H_
