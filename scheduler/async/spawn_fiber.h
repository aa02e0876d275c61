// SpawnFiber, SpawnChild: start fibers. Included by fiber.h, which says what they are.
//
// Thread safety: any thread.
//
// Errors: as Spawn(), and as fiber.h says.

#ifndef JACKDAW_SCHEDULER_ASYNC_SPAWN_FIBER_H_
#define JACKDAW_SCHEDULER_ASYNC_SPAWN_FIBER_H_

#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/fiber_node.h"
#include "scheduler/async/fiber_task.h"
#include "scheduler/async/future_cell.h"
#include "scheduler/async/this_fiber.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

// Makes a fiber, lets `parent` adopt it if there is one, and starts it.
template <typename F>
auto StartFiber(Runner& runner, FiberNode* parent, F f, FiberOptions options)
    -> Fiber<typename FiberTask<F>::Value> {
  using Value = typename FiberTask<F>::Value;
  if (!options.on_unawaited && parent != nullptr) options.on_unawaited = parent->on_unawaited();
  auto* task = new FiberTask<F>(runner, std::move(f),
                                {.name = std::move(options.name),
                                 .protect = options.protect,
                                 .daemon = options.daemon,
                                 .on_unawaited = std::move(options.on_unawaited)});
  // One reference is the run's already; this is the handle's.
  FutureCell<Value>* cell = task;
  cell->AddReference();
  const Fiber<Value> fiber(CellRef<Value>(cell), *task);
  const absl::Status adopted = parent == nullptr ? absl::OkStatus() : parent->Adopt(*task);
  if (adopted.ok()) {
    task->Start();
  } else {
    if (absl::IsCancelled(adopted)) fiber.Cancel();
    task->Refuse(adopted);
  }
  return fiber;
}

// Starts a child of `parent`.
template <typename F>
auto SpawnIn(FiberNode& parent, F&& f, FiberOptions options) {
  Runner& runner = options.on == nullptr ? parent.runner() : *options.on;
  return StartFiber(runner, &parent, TaskMaker<F>{std::forward<F>(f)}, std::move(options));
}

}  // namespace async_internal

// Starts a root: a fiber that nobody waits for but by its handle. `f` is a coroutine, a
// function that makes one (kept until the body ends, so a lambda may use its captures), or a
// plain function.
template <typename F>
auto SpawnFiber(Runner& runner, F&& f, FiberOptions options = {}) {
  return async_internal::StartFiber(
      runner, nullptr, async_internal::TaskMaker<F>{std::forward<F>(f)}, std::move(options));
}

// Starts a child of the calling fiber, or of the scope that it is in. Requires: there is one.
// The child resolves to CANCELLED, and never runs, where that is cancelled; to RESOURCE_EXHAUSTED
// where it has FiberNode::kMaxChildren.
template <typename F>
auto SpawnChild(F&& f, FiberOptions options = {}) {
  return async_internal::SpawnIn(ThisFiber::Node(), std::forward<F>(f), std::move(options));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_SPAWN_FIBER_H_
