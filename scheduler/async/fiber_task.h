// FiberTask: a fiber on its way through a runner: its coroutine, its node in the tree and the
// cell of its result, in one piece of memory. Users see Fiber.
//
// Invariants
//   (1) What the fiber owned (its function, the coroutine, its local values) is destroyed when
//       its body ends; the result waits here for the children, and moves to the cell after them.
//
// Thread safety: as FiberNode and CoRun say.

#ifndef JACKDAW_SCHEDULER_ASYNC_FIBER_TASK_H_
#define JACKDAW_SCHEDULER_ASYNC_FIBER_TASK_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/co_run.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fiber_node.h"
#include "scheduler/async/future_cell.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/task_context.h"

namespace jackdaw::async_internal {

// F makes the coroutine.
template <typename F>
class FiberTask final : public FutureCell<typename std::invoke_result_t<F&>::Value>,
                        public FiberNode,
                        public CoRun {
 public:
  using Value = typename std::invoke_result_t<F&>::Value;
  using Result = FutureResult<Value>;

  FiberTask(Runner& runner, F f, FiberTraits traits)
      : FutureCell<Value>(&runner),
        FiberNode(runner, *this, std::move(traits)),
        CoRun(runner),
        f_(std::move(f)) {
    context().fiber = this;
  }

  // Hands it to its runner. For both: the caller holds a reference of its own.
  void Start() { CoRun::Start(); }
  // Ends it before it has begun.
  void Refuse(absl::Status reason) { End(std::move(reason)); }

  // Of what the coroutine is in now: in a shielded scope it does not see the fiber's own.
  [[nodiscard]] bool cancel_requested() const override { return context().fiber->is_cancelled(); }

 private:
  absl::StatusOr<CoFrame*> Begin() override {
    SetPhase(Phase::kBegun);
    return CallForResult([this] {
      task_ = (*f_)();
      return &task_.Pin();
    });
  }
  void Complete() override { End(task_.Finish()); }
  void Fail(absl::Status reason) override { End(std::move(reason)); }

  void End(Result result) {
    task_ = {};
    f_.reset();
    context().locals = {};
    absl::Status status = StatusOf(result);
    result_.emplace(std::move(result));
    FinishBody(std::move(status));
  }

  void PublishResult(absl::Status failure) override {
    Result result = failure.ok() ? *std::move(result_) : Result(std::move(failure));
    result_.reset();
    FutureCell<Value>::Resolve(std::move(result));
  }

  std::optional<F> f_;  // Outlives the coroutine, which may refer to its captures.
  std::invoke_result_t<F&> task_;
  std::optional<Result> result_;
};

// What a fiber runs, as a function that makes a coroutine: such a function itself, a
// coroutine, or a plain function.
template <typename F>
struct CallAsTask {
  F f;
  auto operator()() -> CoTask<FutureResult<ResultValue<std::invoke_result_t<F&>>>> {
    co_return CallForResult(f);
  }
};

template <typename F>
struct TaskMakerOf {
  using type = std::conditional_t<IsCoTask<std::invoke_result_t<F&>>::value, F, CallAsTask<F>>;
};
template <typename T>
struct TaskMakerOf<CoTask<T>> {
  using type = GivenTask<T>;
};

// The type of that function. It is made in place, `TaskMaker<F>{f}`, and not passed through a
// function: g++ 12 takes one that only hands a closure on for one that keeps nothing of it, and
// then believes that what the closure refers to does not change.
template <typename F>
using TaskMaker = typename TaskMakerOf<std::decay_t<F>>::type;

}  // namespace jackdaw::async_internal

#endif  // JACKDAW_SCHEDULER_ASYNC_FIBER_TASK_H_
