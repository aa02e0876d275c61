// ThisFiber: what a fiber says of itself, and CheckCancelled(), Checkpoint(). Where the code is
// inside a scope (scope.h) of its fiber, all of it is about that scope.
//
// Thread safety: each is about the caller.

#ifndef JACKDAW_SCHEDULER_ASYNC_THIS_FIBER_H_
#define JACKDAW_SCHEDULER_ASYNC_THIS_FIBER_H_

#include <coroutine>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "scheduler/async/co_run.h"
#include "scheduler/async/fiber_node.h"

namespace jackdaw {

// OK, or CANCELLED with the reason where the calling fiber was asked to stop. OK, too, where
// the caller is no fiber. For loops that never suspend. Does not block.
[[nodiscard]] absl::Status CheckCancelled();

class ThisFiber {
 public:
  ThisFiber() = delete;

  // Whether the caller is a fiber, or in a scope. The rest require it.
  [[nodiscard]] static bool exists();
  [[nodiscard]] static std::uint64_t id() { return Node().id(); }
  [[nodiscard]] static const std::string& name() { return Node().name(); }
  [[nodiscard]] static bool is_cancelled() { return Node().is_cancelled(); }

  // See FiberNode::AddOnCancel().
  static FiberNode::HookId AddOnCancel(std::function<void()> hook) {
    return Node().AddOnCancel(std::move(hook));
  }
  static bool RemoveOnCancel(FiberNode::HookId id) { return Node().RemoveOnCancel(id); }

  // For debugging: the whole tree, from its root, as Fiber::DumpTree().
  [[nodiscard]] static std::string DumpTree();

  // For fiber.h and scope.h. Ends the program where there is none.
  [[nodiscard]] static FiberNode& Node();
};

// A hook on the cancel of the calling fiber, for as long as this lives. A local of the
// coroutine. A hook that is being called just then goes on: let it own what it uses, or refer to
// what outlives the fiber.
class OnCancelGuard {
 public:
  explicit OnCancelGuard(std::function<void()> hook)
      : node_(ThisFiber::Node()), id_(node_.AddOnCancel(std::move(hook))) {}
  ~OnCancelGuard() { node_.RemoveOnCancel(id_); }
  OnCancelGuard(const OnCancelGuard&) = delete;
  OnCancelGuard& operator=(const OnCancelGuard&) = delete;

 private:
  FiberNode& node_;
  const FiberNode::HookId id_;
};

namespace async_internal {

struct CheckpointAwaiter {
  bool await_ready() const noexcept { return false; }
  template <typename P>
  bool await_suspend(std::coroutine_handle<P> handle) const noexcept {
    CoRun* run = handle.promise().run;
    const FiberNode* fiber = run->context().fiber;
    if (fiber != nullptr && fiber->is_cancelled()) return false;
    run->SuspendAt(handle.promise());
    run->Requeue();
    return true;
  }
  absl::Status await_resume() const { return CheckCancelled(); }
};

}  // namespace async_internal

// `co_await Checkpoint()` lets other tasks of the runner go first, as Yield() does, and gives
// what CheckCancelled() says then. It does not suspend a fiber that is cancelled.
[[nodiscard]] inline async_internal::CheckpointAwaiter Checkpoint() { return {}; }

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_THIS_FIBER_H_
