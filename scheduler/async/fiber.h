// Fiber: a lightweight thread. A coroutine in a tree of parents and children.
//
//   Fiber<int> sum = SpawnFiber(pool, []() -> CoTask<int> {
//     Fiber<int> left = SpawnChild(Half(0));
//     Fiber<int> right = SpawnChild(Half(1));
//     const absl::StatusOr<int>& a = co_await left;
//     const absl::StatusOr<int>& b = co_await right;
//     if (!a.ok()) co_return a.status();
//     if (!b.ok()) co_return b.status();
//     co_return *a + *b;
//   });
//
// Rules of the tree
//   End      A fiber resolves after all its children have, whoever awaits them.
//   Cancel   goes down, at once, to all children and theirs, and stays: a child that is spawned
//            later resolves to CANCELLED and never runs. It is a request: an await that would
//            suspend gives CANCELLED instead, or is woken to give it, and CheckCancelled() says
//            so; the body then ends when it likes, with what it likes. One that has not begun
//            never does.
//   Failure  goes up. A child that ends with an error fails its parent, which is cancelled and
//            resolves to that error, whatever its body returns; but not a child spawned with
//            `protect`, and not one that was cancelled and ends with CANCELLED. Several errors
//            become one, of which the first is the primary one (combined_error.h); the parent's
//            own, made of a child's that it awaited, comes after that.
//   Values   A child starts with its parent's local values (local_key.h).
//   Turns    No fiber keeps others waiting by awaiting: after CoRun::kReadyAwaits awaits of what
//            was ready, it goes behind those who wait on its runner. A loop without awaits calls
//            Checkpoint() or Yield().
//
// The default is not to protect: an error that nobody looks at must not get lost. (Moonpool's
// code protects by default; its author's article describes it as here.)
//
// A section of a fiber that waits for its own children, has hooks at its end, or is shielded
// from cancelling is a Scope (scope.h). What a child refers to lives until the parent has
// resolved: mind the locals of the parent's body, which die when that ends.
//
// Thread safety: any thread. A handle is as Future's: copies share one fiber, and a fiber
// without handles goes on.
//
// Errors: as Spawn(), and as above.

#ifndef JACKDAW_SCHEDULER_ASYNC_FIBER_H_
#define JACKDAW_SCHEDULER_ASYNC_FIBER_H_

#include <coroutine>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/await_ledger.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fiber_node.h"
#include "scheduler/async/future.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

struct FiberOptions {
  std::string name = {};  // For people: in dumps and reports.
  bool protect = false;   // Its failure is not its parent's. Of a child.
  bool daemon = false;    // Cancelled as soon as its parent's body and all other children have
                          // ended. Of a child.
  Runner* on = nullptr;   // Of a child: another runner than its parent's.
  // Debug mode, for it and its descendants: told of each of them that ended, neither cancelled
  // nor failed, while nobody had awaited (co_await, Wait(), future(), Take()), cancelled or
  // ignored (Ignore()) some child of it, daemons apart. AbortOnUnawaited() is one. Null: a child
  // inherits its parent's, and a root has none.
  UnawaitedHook on_unawaited = nullptr;
};

template <typename T>
class [[nodiscard]] Fiber {
 public:
  using Value = T;
  using Result = FutureResult<T>;
  using HookId = FiberNode::HookId;

  // Refers to nothing until it is assigned to. All but valid() require valid().
  Fiber() = default;
  Fiber(CellRef<T> cell, FiberNode& node) : future_(std::move(cell)), node_(&node) {}

  [[nodiscard]] bool valid() const { return future_.valid(); }
  // Never that of another fiber of this process.
  [[nodiscard]] std::uint64_t id() const { return node_->id(); }
  [[nodiscard]] const std::string& name() const { return node_->name(); }

  [[nodiscard]] bool is_done() const { return future_.is_ready(); }
  [[nodiscard]] bool is_success() const { return future_.is_success(); }
  [[nodiscard]] bool is_failed() const { return future_.is_failed(); }
  // Whether it was asked to stop, be it done or not.
  [[nodiscard]] bool is_cancelled() const { return node_->is_cancelled(); }

  // The result, or null while it is not done. Valid as long as any handle lives.
  [[nodiscard]] const Result* Peek() const { return future_.Peek(); }
  // Blocks the thread until it is done; FAILED_PRECONDITION on a worker of its own runner. Valid
  // as long as any handle lives.
  const Result& Wait() const {
    node_->MarkAwaited();
    return std::as_const(future_).Wait();
  }
  // The future of its result, for combinators and callbacks. A request to cancel that cancels the
  // fiber.
  [[nodiscard]] Future<T> future() const;
  // Takes the result out, as Future::Take(). Requires: done.
  [[nodiscard]] Result Take() && {
    node_->MarkAwaited();
    return std::move(future_).Take();
  }
  // Says that nobody is going to await it, for the debug mode and for the reader. Its failure is
  // its parent's all the same.
  void Ignore() const { node_->MarkAwaited(); }

  // Cancels it and all below it, before this returns; unless another thread has begun to.
  void Cancel() const { node_->Cancel(CancelRequestedError()); }
  // See FiberNode::AddOnCancel().
  HookId AddOnCancel(std::function<void()> hook) const {
    return node_->AddOnCancel(std::move(hook));
  }
  bool RemoveOnCancel(HookId id) const { return node_->RemoveOnCancel(id); }

  // For debugging: the tree below it as it is at about this moment, a line each, as
  //   #7 "crawl": waits for #9, cancelled
  // Requires: no runner that the tree may be waiting for is destroyed meanwhile.
  [[nodiscard]] std::string DumpTree() const { return node_->DumpTree(); }

  // `co_await fiber`: suspends until it is done. Gives `const Result&`; of an rvalue, takes the
  // result out, see Future::Take().
  auto operator co_await() const& { return Awaiter<const Future<T>&>{future_, *node_}; }
  auto operator co_await() && { return Awaiter<Future<T>&&>{std::move(future_), *node_}; }

 private:
  // By way of the future's, but with the fiber known.
  template <typename F>
  struct Awaiter {
    F future;
    FiberNode& node;

    bool await_ready() const noexcept {
      node.MarkAwaited();
      return future.is_ready() && CoRun::MayGoOn();
    }
    template <typename P>
    bool await_suspend(std::coroutine_handle<P> handle) const noexcept {
      return handle.promise().run->SuspendOn(*future.cell(), handle.promise(), node.id());
    }
    decltype(auto) await_resume() const {
      if constexpr (std::is_rvalue_reference_v<F>) {
        if (future.is_ready()) return Result(std::move(future).Take());
        return Result(CancelRequestedError());
      } else {
        const Result* result = future.Peek();
        return result == nullptr ? async_internal::Interrupted<T>() : *result;
      }
    }
  };

  Future<T> future_;
  FiberNode* node_ = nullptr;  // Part of what the future keeps alive.
};

template <typename T>
Future<T> Fiber<T>::future() const {
  class CancelFiber final : public CancelWaiter {
   public:
    explicit CancelFiber(Fiber fiber)
        : CancelWaiter(&CancelFiber::Call), fiber_(std::move(fiber)) {}

   private:
    static void Call(Waiter* waiter) noexcept {
      auto* self = static_cast<CancelFiber*>(waiter);
      if (!self->too_late) self->fiber_.Cancel();
      delete self;
    }
    const Fiber fiber_;
  };
  node_->MarkAwaited();
  if (!future_.is_ready() && node_->IsFirstToLink()) {
    future_.cell()->OnCancel(new CancelFiber(*this));
  }
  return future_;
}

}  // namespace jackdaw

#include "scheduler/async/spawn_fiber.h"  // IWYU pragma: export

#endif  // JACKDAW_SCHEDULER_ASYNC_FIBER_H_
