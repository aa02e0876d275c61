// CoTask: a lazy coroutine. It does nothing until it is awaited or spawned.
//
//   CoTask<int> Twice(Future<int> number) {
//     const absl::StatusOr<int> value = co_await number;
//     if (!value.ok()) co_return value.status();
//     co_return 2 * *value;
//   }
//   Future<int> answer = Spawn(pool, Twice(Future<int>::Ready(21)));
//
// A coroutine co_awaits
//   CoTask<T>   runs it to its end, as a call would; gives FutureResult<T>.
//   Future<T>   suspends until it is ready and goes on as a task of the runner that it left,
//               on any of its workers, never inside the completer; if it is ready, goes on
//               at once, but see "Turns" in fiber.h. Gives `const FutureResult<T>&`; of an rvalue,
//               Future::Take(). In a fiber that is cancelled (fiber.h) it does not suspend, or goes
//               on: what is not ready then gives CANCELLED, and an rvalue is asked to cancel.
//   Yield(), CancelRequested()   see below.
//
// Results: CoTask<T> co_returns a T or an error status; CoTask<absl::Status> a status;
// CoTask<void> nothing, and only an exception makes it fail. An exception that leaves a
// coroutine becomes UNKNOWN. To whoever awaits, the last two give absl::Status.
//
// Thread safety: a coroutine runs on one thread at a time, and may change threads at every
// co_await: hold no lock and keep no thread-local across one.
//
// With g++ 12: no temporaries inside a co_await expression, which it may destroy twice.
// Name the future or the task first.

#ifndef JACKDAW_SCHEDULER_ASYNC_CO_TASK_H_
#define JACKDAW_SCHEDULER_ASYNC_CO_TASK_H_

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/co_run.h"
#include "scheduler/async/future_awaiter.h"  // IWYU pragma: export
#include "scheduler/async/future_result.h"

namespace jackdaw {

template <typename T>
class CoTask;

namespace async_internal {

struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <typename P>
  void await_suspend(std::coroutine_handle<P> handle) const noexcept {
    handle.promise().run->Leave(handle.promise());
  }
  void await_resume() const noexcept {}
};

template <typename T>
struct CoPromiseBase : CoFrame {
  using Result = FutureResult<ResultValue<T>>;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() { result.emplace(StatusOfCurrentException()); }

  // Set once the coroutine has ended.
  std::optional<Result> result;
};

template <typename T>
struct CoPromise : CoPromiseBase<T> {
  CoTask<T> get_return_object();
  template <typename U>
  void return_value(U&& value) {
    this->result.emplace(std::forward<U>(value));
  }
};

template <>
struct CoPromise<void> : CoPromiseBase<void> {
  CoTask<void> get_return_object();
  void return_void() { result.emplace(); }
};

}  // namespace async_internal

template <typename T>
class [[nodiscard]] CoTask {
 public:
  using promise_type = async_internal::CoPromise<T>;
  using Value = ResultValue<T>;
  using Result = FutureResult<Value>;

  CoTask() = default;
  explicit CoTask(promise_type& promise)
      : handle_(std::coroutine_handle<promise_type>::from_promise(promise)), frame_(&promise) {
    frame_->self = handle_;
  }
  CoTask(CoTask&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), frame_(other.frame_) {}
  CoTask& operator=(CoTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~CoTask() { Destroy(); }

  // Whether there is a coroutine that has not been awaited.
  [[nodiscard]] bool valid() const { return handle_ != nullptr; }

  // Requires: valid(). A task is awaited once, and stays where it is meanwhile.
  auto operator co_await() & { return Awaiter{*this}; }
  auto operator co_await() && { return Awaiter{*this}; }

  // For whoever runs it: the frame, which knows from here on where its handle is kept.
  [[nodiscard]] CoFrame& Pin() {
    frame_->owner = &handle_;
    return *frame_;
  }
  // Requires: it has ended. Takes the result and destroys the coroutine.
  [[nodiscard]] Result Finish() {
    Result result = *std::move(frame_->result);
    Destroy();
    return result;
  }

 private:
  struct Awaiter {
    CoTask& task;

    bool await_ready() const noexcept { return false; }
    template <typename P>
    void await_suspend(std::coroutine_handle<P> parent) const noexcept {
      parent.promise().run->Enter(parent.promise(), task.Pin());
    }
    Result await_resume() const { return task.Finish(); }
  };

  void Destroy() {
    if (handle_ != nullptr) std::exchange(handle_, nullptr).destroy();
  }

  std::coroutine_handle<> handle_;
  promise_type* frame_ = nullptr;  // Valid while handle_ is.
};

namespace async_internal {

template <typename T>
CoTask<T> CoPromise<T>::get_return_object() {
  return CoTask<T>(*this);
}
inline CoTask<void> CoPromise<void>::get_return_object() { return CoTask<void>(*this); }

struct YieldAwaiter {
  bool await_ready() const noexcept { return false; }
  template <typename P>
  void await_suspend(std::coroutine_handle<P> handle) const noexcept {
    CoRun* run = handle.promise().run;
    run->SuspendAt(handle.promise());
    run->Requeue();
  }
  void await_resume() const noexcept {}
};

struct CancelRequestedAwaiter {
  bool requested = false;
  bool await_ready() const noexcept { return false; }
  template <typename P>
  bool await_suspend(std::coroutine_handle<P> handle) noexcept {
    requested = handle.promise().run->cancel_requested();
    return false;
  }
  bool await_resume() const noexcept { return requested; }
};

}  // namespace async_internal

// `co_await Yield()` lets other tasks of the runner go first: the coroutine is submitted
// again, behind what waits there.
[[nodiscard]] inline async_internal::YieldAwaiter Yield() { return {}; }

// `co_await CancelRequested()` is whether somebody asked for the spawned coroutine's future
// to be cancelled. It does not suspend. The coroutine then ends when it likes, with CANCELLED.
[[nodiscard]] inline async_internal::CancelRequestedAwaiter CancelRequested() { return {}; }

}  // namespace jackdaw

#include "scheduler/async/spawn.h"  // IWYU pragma: export

#endif  // JACKDAW_SCHEDULER_ASYNC_CO_TASK_H_
