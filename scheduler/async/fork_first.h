// ForkFirst, ForkLater: a coroutine forks a child, by either policy, and joins it by awaiting
// its future.
//
//   CoTask<std::int64_t> Fib(int n) {
//     if (n < 2) co_return n;
//     CoTask<std::int64_t> child = Fib(n - 1);
//     Future<std::int64_t> left;
//     co_await ForkFirst(child, left);
//     CoTask<std::int64_t> right_task = Fib(n - 2);
//     const absl::StatusOr<std::int64_t> right = co_await right_task;
//     const absl::StatusOr<std::int64_t>& left_value = co_await left;
//     co_return *left_value + *right;
//   }
//
// ForkFirst (work first): the worker runs the child at once, and the rest of the forking
// coroutine becomes a task that another worker may take. The order is that of a plain call where
// nobody takes it, and a worker's deque holds one rest for each level of nesting, however many
// children there are. The coroutine may go on as another thread: keep no lock and no thread-local
// across it.
// ForkLater (help first): the child becomes the task, and the coroutine goes on. Right where the
// coroutine has to go on soon, or stay; the deque holds every child that has not begun.
//
// Neither needs stack, at any depth: the loop that drives coroutines goes from one to the next
// (see co_run.h). On a runner without a deque the task goes to that runner's queue.
//
// The child is as one of Spawn(): it ends when it ends, and its future always resolves. What it
// refers to must live until then; so join it before you leave, also where something failed.
//
// Source: Frigo, Leiserson and Randall, PLDI 1998 (work first); Guo et al., IPDPS 2009.

#ifndef JACKDAW_SCHEDULER_ASYNC_FORK_FIRST_H_
#define JACKDAW_SCHEDULER_ASYNC_FORK_FIRST_H_

#include <coroutine>
#include <utility>

#include "scheduler/async/co_task.h"
#include "scheduler/async/future.h"
#include "scheduler/async/spawn.h"

namespace jackdaw {
namespace async_internal {

template <typename T>
struct ForkFirstAwaiter {
  CoTask<T>& child;
  Future<ResultValue<T>>& result;

  bool await_ready() const noexcept { return false; }
  template <typename P>
  void await_suspend(std::coroutine_handle<P> handle) const {
    using Given = GivenTask<T>;
    CoRun* run = handle.promise().run;
    CoRun& forked = CoroutineTask<Given>::Make(run->runner(), Given{std::move(child)}, result);
    run->GoOnWith(handle.promise(), forked);
  }
  void await_resume() const noexcept {}
};

template <typename T>
struct ForkLaterAwaiter {
  CoTask<T>& child;
  Future<ResultValue<T>>& result;

  bool await_ready() const noexcept { return false; }
  template <typename P>
  bool await_suspend(std::coroutine_handle<P> handle) const {
    result = Spawn(handle.promise().run->runner(), std::move(child));
    return false;
  }
  void await_resume() const noexcept {}
};

}  // namespace async_internal

// `co_await ForkFirst(child, result)` runs `child`, which must be valid() and is moved from, now,
// and offers the rest of this coroutine. `result` is set when the coroutine goes on.
template <typename T>
[[nodiscard]] async_internal::ForkFirstAwaiter<T> ForkFirst(CoTask<T>& child,
                                                            Future<ResultValue<T>>& result) {
  return {child, result};
}

// `co_await ForkLater(child, result)` offers `child` on the runner of this coroutine and goes on.
template <typename T>
[[nodiscard]] async_internal::ForkLaterAwaiter<T> ForkLater(CoTask<T>& child,
                                                            Future<ResultValue<T>>& result) {
  return {child, result};
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FORK_FIRST_H_
