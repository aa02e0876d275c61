// ScopeNode and ScopeSection: a scope in the tree of fibers, and a coroutine's way through it.
// Users see Scope.
//
// Thread safety: of ScopeNode, as of FiberNode. A section belongs to its coroutine.

#ifndef JACKDAW_SCHEDULER_ASYNC_SCOPE_NODE_H_
#define JACKDAW_SCHEDULER_ASYNC_SCOPE_NODE_H_

#include <coroutine>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/co_run.h"
#include "scheduler/async/fiber_node.h"
#include "scheduler/async/future.h"
#include "scheduler/async/waiter.h"

namespace jackdaw::async_internal {

// Resolves to OK, or to the errors of the scope.
class ScopeNode final : public FutureCell<void>, public FiberNode {
 public:
  ScopeNode(Runner& runner, FiberTraits traits)
      : FutureCell<void>(&runner), FiberNode(runner, *this, std::move(traits)) {
    SetPhase(Phase::kBegun);
  }

  // Not the cell's, which only asks.
  using FiberNode::Cancel;

  // Called after all have ended, newest first. Requires: some have not, or a release is running.
  HookId AddRelease(std::function<void()> release) ABSL_LOCKS_EXCLUDED(releases_mutex_);
  // Destroys it uncalled. False: it was called, or is being called.
  bool RemoveRelease(HookId id) ABSL_LOCKS_EXCLUDED(releases_mutex_);
  // The coroutine has left the body. The node may be gone when this returns, unless the caller
  // holds a reference.
  void LeaveBody(absl::Status status) { FinishBody(std::move(status)); }

 private:
  void PublishResult(absl::Status failure) override;
  // The newest one that is left, or null.
  [[nodiscard]] std::function<void()> TakeRelease() ABSL_LOCKS_EXCLUDED(releases_mutex_);

  absl::Mutex releases_mutex_;
  HookId last_release_ ABSL_GUARDED_BY(releases_mutex_) = 0;
  std::map<HookId, std::function<void()>> releases_ ABSL_GUARDED_BY(releases_mutex_);
};

// Lives in the coroutine. The scope begins when the coroutine enters. A run that is abandoned
// inside a scope ends that first (Abandon()), for its fibers may refer to the coroutine. Only an
// exception can destroy a section before it is left: then the scope is cancelled, and on its own.
class ScopeSection {
 public:
  explicit ScopeSection(FiberTraits traits) : traits_(std::move(traits)) {}
  ~ScopeSection();
  ScopeSection(const ScopeSection&) = delete;
  ScopeSection& operator=(const ScopeSection&) = delete;

  // Requires: entered.
  [[nodiscard]] ScopeNode& node() { return *node_; }
  void FinishBody(absl::Status status);

  // The coroutine goes on no longer: cancels the scope. True: `waiter` is woken when all in it
  // has ended, and this is called again. False: all has, and the coroutine has left the scope.
  [[nodiscard]] bool Abandon(const absl::Status& reason, Waiter* waiter);

  // `co_await`: makes the scope what the coroutine is in. Gives why it could not.
  struct Entering {
    ScopeSection& section;
    absl::Status status{};

    bool await_ready() const noexcept { return false; }
    template <typename P>
    bool await_suspend(std::coroutine_handle<P> handle) {
      status = section.Enter(*handle.promise().run);
      return false;
    }
    absl::Status await_resume() { return std::move(status); }
  };

  // `co_await`: waits until all in the scope has ended, and no cancel ends the wait. Gives the
  // errors. Then the coroutine is in what it was in before.
  struct Leaving {
    ScopeSection& section;

    bool await_ready() const noexcept { return section.future_.is_ready(); }
    template <typename P>
    bool await_suspend(std::coroutine_handle<P> handle) const noexcept {
      return section.future_.cell()->AddWaiter(handle.promise().run->SuspendAt(handle.promise()));
    }
    absl::Status await_resume() const { return section.Leave(); }
  };

 private:
  absl::Status Enter(CoRun& run);
  absl::Status Leave();

  FiberTraits traits_;
  CoRun* run_ = nullptr;         // Null unless inside.
  FiberNode* around_ = nullptr;  // What the coroutine was in before.
  ScopeSection* outer_ = nullptr;
  ScopeNode* node_ = nullptr;
  Future<void> future_;  // Keeps `node_`.
  bool body_left_ = false;
};

}  // namespace jackdaw::async_internal

#endif  // JACKDAW_SCHEDULER_ASYNC_SCOPE_NODE_H_
