// Scope: a section of a coroutine that ends when all fibers started in it have ended.
//
//   CoTask<absl::Status> copying = Scope::Run([&](Scope& scope) -> CoTask<absl::Status> {
//     const Fiber<void> reader = scope.Spawn(Read(source, pages));
//     const Fiber<void> writer = scope.Spawn(Write(pages, target));
//     scope.OnRelease([&] { source.Close(); });
//     co_return absl::OkStatus();
//   });
//   const absl::Status copied = co_await copying;
//
// A scope is a node in the tree of fibers (fiber.h), the child of what the coroutine was in. All
// rules of the tree hold for it: a fiber in it that fails, unless protected, cancels the scope
// and is its result; a cancel of what is around it goes down into it. While the coroutine is
// inside, SpawnChild(), CheckCancelled() and awaits are about the scope. Unlike a failure of a
// child, that of a scope goes no further by itself: it is the result of Run().
//
// RunShielded() is a protected section: a cancel from around it does not reach it, nor what is
// started in it; it is seen after the section. For what must be finished or undone.
//
// Scopes may be used in any coroutine that was spawned, be it a fiber or not.
//
// What the fibers refer to is declared outside the body, whose own locals die before they end;
// captures of the body live until the scope has ended.
//
// Where the runner is gone and the coroutine can go on no longer, the scope is cancelled, and
// the coroutine is destroyed once all fibers in it have ended.
//
// Thread safety: Spawn(), Fail(), Cancel() and the like by any fiber inside the scope.
//
// Source: the switches of Eio; the name is that of structured concurrency elsewhere.

#ifndef JACKDAW_SCHEDULER_ASYNC_SCOPE_H_
#define JACKDAW_SCHEDULER_ASYNC_SCOPE_H_

#include <coroutine>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/scope_node.h"

namespace jackdaw {

struct ScopeOptions {
  std::string name = {};                 // For people: in dumps and reports.
  UnawaitedHook on_unawaited = nullptr;  // As FiberOptions::on_unawaited.
};

class Scope {
 public:
  // Runs `body(scope)`, a coroutine, and gives its result once all fibers of the scope have
  // ended: or their errors, if some failed. CANCELLED, without calling `body`, where what is
  // around it is cancelled already.
  template <typename Body>
  static auto Run(Body body, ScopeOptions options = {}) {
    return RunIn(std::move(body), std::move(options), /*shield=*/false);
  }
  // The same, out of reach of cancels from around it.
  template <typename Body>
  static auto RunShielded(Body body, ScopeOptions options = {}) {
    return RunIn(std::move(body), std::move(options), /*shield=*/true);
  }

  // Starts a fiber in the scope; as SpawnChild(). FAILED_PRECONDITION once all but daemons
  // have ended.
  template <typename F>
  auto Spawn(F&& f, FiberOptions options = {}) {
    return async_internal::SpawnIn(node_, std::forward<F>(f), std::move(options));
  }
  // One that is cancelled when the body and all other fibers have ended.
  template <typename F>
  auto SpawnDaemon(F&& f, FiberOptions options = {}) {
    options.daemon = true;
    return Spawn(std::forward<F>(f), std::move(options));
  }

  // Calls `release` once after all fibers of the scope have ended, on the thread of the last
  // one; those added later first. It must not block. What it throws goes to the runner's
  // `on_error`. Requires: the scope has not ended; a release that is running may add another.
  FiberNode::HookId OnRelease(std::function<void()> release) {
    return node_.AddRelease(std::move(release));
  }
  // Destroys a release uncalled: what it was to release is gone already. False: it was called,
  // or is being called.
  bool RemoveRelease(FiberNode::HookId id) { return node_.RemoveRelease(id); }

  // Cancels all in the scope. With Fail(), `error` is the scope's result.
  void Cancel() { node_.Cancel(CancelRequestedError()); }
  void Fail(absl::Status error) { node_.Fail(std::move(error)); }
  [[nodiscard]] bool is_cancelled() const { return node_.is_cancelled(); }

  [[nodiscard]] std::string DumpTree() { return node_.DumpTree(); }

  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  using Section = async_internal::ScopeSection;

  explicit Scope(async_internal::ScopeNode& node) : node_(node) {}

  template <typename Body>
  static auto RunIn(Body body, ScopeOptions options, bool shield)
      -> CoTask<typename std::invoke_result_t<Body&, Scope&>::Result> {
    Section section({.name = std::move(options.name),
                     .protect = true,
                     .shield = shield,
                     .scope = true,
                     .on_unawaited = std::move(options.on_unawaited)});
    Section::Entering entering{section};
    const absl::Status entered = co_await entering;
    if (!entered.ok()) co_return entered;
    Scope scope(section.node());
    auto made = CallForResult([&] { return body(scope); });
    typename std::invoke_result_t<Body&, Scope&>::Result result;
    if (made.ok()) {
      auto& task = *made;
      auto ran = co_await task;
      result = std::move(ran);
    } else {
      result = made.status();
    }
    section.FinishBody(StatusOf(result));
    Section::Leaving leaving{section};
    absl::Status left = co_await leaving;
    if (!left.ok()) co_return left;
    co_return result;
  }

  async_internal::ScopeNode& node_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_SCOPE_H_
