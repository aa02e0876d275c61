// Spawn: starts work on a runner and returns the future of its result.
//
// The future always resolves: to the result; to UNKNOWN where the work threw; to UNAVAILABLE
// where the runner had been shut down when the work was submitted or, for a coroutine, when
// it was to be resumed; to CANCELLED where the runner dropped it, or where its future was
// asked to be cancelled before it began. Whatever the work owned (captures, arguments, locals)
// has been destroyed by then.
//
// The runner, shut down or not, outlives every coroutine that was spawned on it: whatever
// such a coroutine may still wait for (promises, timers) is resolved or destroyed first.
//
// Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_SPAWN_H_
#define JACKDAW_SCHEDULER_ASYNC_SPAWN_H_

#include <type_traits>
#include <utility>

#include "scheduler/async/co_task.h"
#include "scheduler/async/future.h"
#include "scheduler/async/task_context.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

template <typename R>
struct IsCoTask : std::false_type {};
template <typename T>
struct IsCoTask<CoTask<T>> : std::true_type {};

// A function on its way through a runner.
template <typename F>
class FunctionTask final : public Task {
 public:
  using Value = ResultValue<std::invoke_result_t<F>>;

  static Future<Value> Start(Runner& runner, F f) {
    auto* task = new FunctionTask(runner, std::move(f));
    Future<Value> future = task->promise_.future();
    if (!runner.Submit(task)) task->Resolve(RunnerGoneError(runner.name()));
    return future;
  }

 private:
  FunctionTask(Runner& runner, F f)
      : Task(&FunctionTask::OnRunner), runner_(runner), promise_(&runner), f_(std::move(f)) {}

  static void OnRunner(Task* task, Verb verb) noexcept {
    auto* self = static_cast<FunctionTask*>(task);
    if (verb == Verb::kDrop) return self->Resolve(DroppedError(self->runner_.name()));
    if (self->promise_.cancel_requested()) return self->Resolve(CancelRequestedError());
    self->Resolve(self->Call());
  }

  FutureResult<Value> Call() {
    const TaskContext::Installed installed(&context_);
    return CallForResult(std::move(f_));
  }

  void Resolve(FutureResult<Value> result) {
    Promise<Value> promise = std::move(promise_);
    delete this;
    std::move(promise).Fulfil(std::move(result));
  }

  Runner& runner_;
  TaskContext context_ = TaskContext::Inherit();
  Promise<Value> promise_;
  F f_;
};

// A coroutine on its way through a runner, and the function that makes it.
template <typename F>
class CoroutineTask final : public CoRun {
 public:
  using Value = typename std::invoke_result_t<F&>::Value;

  static Future<Value> Start(Runner& runner, F f) {
    Future<Value> future;
    Make(runner, std::move(f), future).CoRun::Start();
    return future;
  }
  // A run that has not begun, and its future. Whoever drives it deletes it.
  static CoroutineTask& Make(Runner& runner, F f, Future<Value>& future) {
    auto* run = new CoroutineTask(runner, std::move(f));
    future = run->promise_.future();
    return *run;
  }

  [[nodiscard]] bool cancel_requested() const override { return promise_.cancel_requested(); }

 private:
  CoroutineTask(Runner& runner, F f) : CoRun(runner), promise_(&runner), f_(std::move(f)) {}

  absl::StatusOr<CoFrame*> Begin() override {
    return CallForResult([this] {
      task_ = f_();
      return &task_.Pin();
    });
  }
  void Complete() override { Resolve(task_.Finish()); }
  void Fail(absl::Status reason) override { Resolve(std::move(reason)); }

  void Resolve(FutureResult<Value> result) {
    Promise<Value> promise = std::move(promise_);
    delete this;
    std::move(promise).Fulfil(std::move(result));
  }

  Promise<Value> promise_;
  F f_;  // Outlives the coroutine, which may refer to its captures.
  std::invoke_result_t<F&> task_;
};

// A coroutine that exists already, as a function that makes it.
template <typename T>
struct GivenTask {
  CoTask<T> task;
  CoTask<T> operator()() { return std::move(task); }
};

}  // namespace async_internal

// Runs `task` on `runner`, from its beginning to its end.
template <typename T>
Future<ResultValue<T>> Spawn(Runner& runner, CoTask<T> task) {
  using Given = async_internal::GivenTask<T>;
  return async_internal::CoroutineTask<Given>::Start(runner, Given{std::move(task)});
}

// Runs `f()` on `runner`. An `f` that returns a CoTask is kept until that has ended, so a
// lambda may be a coroutine and use its captures.
template <typename F>
requires std::is_invocable_v < std::decay_t<F>
& > auto Spawn(Runner& runner, F&& f) {
  using Function = std::decay_t<F>;
  if constexpr (async_internal::IsCoTask<std::invoke_result_t<Function&>>::value) {
    return async_internal::CoroutineTask<Function>::Start(runner, Function(std::forward<F>(f)));
  } else {
    return async_internal::FunctionTask<Function>::Start(runner, Function(std::forward<F>(f)));
  }
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_SPAWN_H_
