// WeightedJobs: jobs that each say how much of something they use, of which there is so much:
// cores, memory, connections. One that does not fit yet is suspended and holds no thread.
//
//   WeightedJobs cores(400);                                     // Four cores, in hundredths.
//   const Fiber<Page> page = SpawnChild(cores.Job(10, Fetch));   // Mostly waits.
//   const Fiber<Image> image = SpawnChild(cores.Job(100, [page] { return Draw(page); }));
//
// A job may be spawned like any other body, as a fiber, in a scope or in a group
// (fiber_groups.h), on any runner. It has its units from before its body begins until after that
// has ended and been destroyed.
//
// Invariants
//   (1) The jobs that run use no more than there is.
//   (2) Jobs begin in the order in which they came to ask, when they were first run: a heavy one
//       is not overtaken by light ones behind it, and so begins in the end.
//
// A job must not wait for another that asks for units of the same kind: all can end up waiting.
//
// Thread safety: any thread, but for the destructor: no job is waiting then.
//
// Errors: a job fails with INVALID_ARGUMENT where it asks for less than one unit or more than
// there are at all; CANCELLED where its fiber is cancelled while it waits; RESOURCE_EXHAUSTED
// where kMaxWaiting wait. Its body is then not called.
//
// Source: the weights of Eio's Executor_pool.

#ifndef JACKDAW_SCHEDULER_ASYNC_WEIGHTED_JOBS_H_
#define JACKDAW_SCHEDULER_ASYNC_WEIGHTED_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fiber_task.h"
#include "scheduler/async/future_result.h"

namespace jackdaw {
namespace async_internal {

// A job: a function that makes the coroutine which waits for its units. F makes the body's.
template <typename F>
struct WeightedJob {
  using Result = typename std::invoke_result_t<F&>::Result;

  AsyncSemaphore& units;
  std::int64_t weight;
  F body;

  CoTask<Result> operator()() { return Run(units, weight, std::move(body)); }

  static CoTask<Result> Run(AsyncSemaphore& units, std::int64_t weight, F body) {
    Future<AsyncSemaphore::Permit> asking = units.Acquire(weight);
    const absl::StatusOr<AsyncSemaphore::Permit> permit = co_await std::move(asking);
    if (!permit.ok()) co_return permit.status();
    // Both are gone before the permit.
    F begun = std::move(body);
    auto task = begun();
    Result result = co_await task;
    co_return result;
  }
};

}  // namespace async_internal

class WeightedJobs {
 public:
  explicit WeightedJobs(std::int64_t units) : units_(units) {}

  // `f` as a job of this weight, for SpawnFiber(), SpawnChild(), Scope::Spawn() and the like. `f`
  // is what those take: a function that makes a coroutine, a coroutine, or a plain function.
  template <typename F>
  [[nodiscard]] auto Job(std::int64_t weight, F&& f) {
    using Body = async_internal::TaskMaker<F>;
    return async_internal::WeightedJob<Body>{units_, weight, Body{std::forward<F>(f)}};
  }

  // Units that no job has, and jobs that wait, at about this moment.
  [[nodiscard]] std::int64_t available() const { return units_.available(); }
  [[nodiscard]] std::size_t waiting() const { return units_.waiting(); }

 private:
  AsyncSemaphore units_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_WEIGHTED_JOBS_H_
