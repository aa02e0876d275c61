// FiberNode: a place in the tree of fibers. Fibers are nodes, and so are scopes (scope.h); each
// belongs to the node in which it was spawned. Users see Fiber and Scope.
//
// Thread safety: any thread, while it holds a reference, unless a method says otherwise.
//
// Invariants
//   (1) A node resolves once, when its body and all its children have ended. So a parent
//       outlives its children, and `parent_` needs no reference.
//   (2) Cancelled is for ever. Whoever was first to cancel a node has marked each one below, but
//       for shielded ones, before it calls a hook or returns; who is adopted later by a cancelled
//       node is refused.
//   (3) A child that failed, unless protected, fails its parent: the parent has the error before
//       anybody can see the child's result, so that it comes first of what the parent makes of
//       it, and is cancelled after that, so that an await of the child gives the error rather than
//       CANCELLED. CANCELLED of a node that was cancelled by others is no failure.
//   (4) A node is open until its body, its children and its hooks have ended, each of which
//       counts in `running_`; whoever ends last resolves it.
//   (5) A reference is the result's: it is counted in the future's cell, whose part a node is.
//       The run, or the scope's coroutine, holds one until the node has resolved.
//
// Locks: one each node. Where two are held, the child's was taken inside its parent's. No user
// code runs under one.

#ifndef JACKDAW_SCHEDULER_ASYNC_FIBER_NODE_H_
#define JACKDAW_SCHEDULER_ASYNC_FIBER_NODE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/await_ledger.h"
#include "scheduler/async/co_run.h"
#include "scheduler/async/combined_error.h"
#include "scheduler/async/future_cell.h"
#include "scheduler/async/interruptible_wait.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

// What a node may be told at its birth.
struct FiberTraits {
  std::string name = {};  // For people: in dumps and reports. May be empty.
  bool protect = false;   // Its failure is not its parent's.
  bool daemon = false;    // Cancelled as soon as all others of its parent have ended.
  bool shield = false;    // A cancel of its parent does not reach it.
  bool scope = false;     // A section of a fiber, not a fiber of its own.
  UnawaitedHook on_unawaited = nullptr;  // Inherited; null is off.
};

class FiberNode {
 public:
  using HookId = std::uint64_t;

  // Children that a node has at a time. Further ones are refused.
  static constexpr std::int64_t kMaxChildren = std::int64_t{1} << 24;

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return traits_.name; }
  [[nodiscard]] Runner& runner() const { return runner_; }
  [[nodiscard]] const UnawaitedHook& on_unawaited() const { return traits_.on_unawaited; }
  // `#12 "fetch"`.
  [[nodiscard]] std::string Label() const;

  // Whether Cancel() has been called, here or above.
  [[nodiscard]] bool is_cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // OK, or why it is cancelled.
  [[nodiscard]] absl::Status CheckCancelled() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Cancels it and all below. `reason` is CANCELLED. Runs hooks.
  void Cancel(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  // As a failure of its own: keeps `error` for the result, and cancels.
  void Fail(absl::Status error) ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `hook` once when it is cancelled, on the cancelling thread; if it is, at once. Never
  // after the node has resolved, which waits until `hook` has returned and been destroyed: so
  // `hook` must not wait for that. What it throws goes to the runner's `on_error`.
  HookId AddOnCancel(std::function<void()> hook) ABSL_LOCKS_EXCLUDED(mutex_);
  // Destroys the hook uncalled. False: it was called, or is being called.
  bool RemoveOnCancel(HookId id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes `child`, which is new, a child of this. Not OK: it is not, because this one is
  // cancelled (then that reason), has ended, or has kMaxChildren.
  [[nodiscard]] absl::Status Adopt(FiberNode& child) ABSL_LOCKS_EXCLUDED(mutex_);

  // See CoRun::SuspendOn(). Only for the run that is in this node.
  bool Suspend(CoRun& run, CoFrame& frame, FutureCellBase& future, std::uint64_t fiber_id)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Somebody waits for the result, or has seen it.
  void MarkAwaited();
  // True once: the caller makes requests to cancel the future cancel the node.
  [[nodiscard]] bool IsFirstToLink() {
    // Relaxed: the link is the future's, which is in order by itself.
    return !linked_.exchange(true, std::memory_order_relaxed);
  }

  // The tree from here down, a node a line, as it was at about this moment; see Fiber.
  [[nodiscard]] std::string DumpTree();

  // Only for the run of this node, or where that cannot move.
  [[nodiscard]] FiberNode* parent() const { return parent_; }

 protected:
  // What the node is doing, as far as it knows itself.
  enum class Phase : std::uint8_t { kQueued, kBegun, kClosing, kResolved };

  FiberNode(Runner& runner, FutureCellBase& cell, FiberTraits traits);
  virtual ~FiberNode();
  FiberNode(const FiberNode&) = delete;
  FiberNode& operator=(const FiberNode&) = delete;

  void SetPhase(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
  // The body has ended with `status`. Resolves the node if it has no children left, and then
  // perhaps its parent, and so on. The node may be gone when this returns.
  void FinishBody(absl::Status status);

  // All has ended: resolves the future, to `failure` unless that is OK.
  virtual void PublishResult(absl::Status failure) = 0;

 private:
  struct Marked;  // A list of nodes that a cancel has marked.
  struct Hook {
    HookId id;
    std::function<void()> call;
  };

  // One of what counts in `running_` has ended. The node may be gone when this returns.
  void EndOne();
  // The same of `child`, or of something else if that is null. Whether it was the last one.
  [[nodiscard]] bool CountEnd(FiberNode* child) ABSL_LOCKS_EXCLUDED(mutex_);
  void Unlink(FiberNode& child) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(absl::Status error) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether that fails the parent, which is still to be cancelled then.
  [[nodiscard]] bool Resolve();
  void CancelDaemons() ABSL_LOCKS_EXCLUDED(mutex_);

  void MarkInto(Marked& list, const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  void MarkChildrenInto(Marked& list, const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  static void ActOn(Marked& list);
  void ActOnCancel() ABSL_LOCKS_EXCLUDED(mutex_);
  void CallHook(const std::function<void()>& hook) const;

  // A line of a dump. `children` gets a reference of each child.
  [[nodiscard]] std::string Describe(std::vector<FiberNode*>& children) ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] std::string DescribeState() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void AddReference() { cell_.AddReference(); }
  void RemoveReference() {
    if (cell_.RemoveReference()) delete this;
  }

  const std::uint64_t id_;
  Runner& runner_;
  FutureCellBase& cell_;
  const FiberTraits traits_;
  FiberNode* parent_ = nullptr;  // Set by Adopt() and not changed.
  std::atomic<bool> cancelled_{false};
  std::atomic<Phase> phase_{Phase::kQueued};
  std::atomic<bool> linked_{false};
  std::shared_ptr<AwaitLedger> children_awaited_;  // Both null unless in debug mode.
  std::shared_ptr<AwaitLedger> listed_in_;

  // Guarded by the parent's lock.
  FiberNode* previous_ = nullptr;
  FiberNode* next_ = nullptr;
  // Of whoever marked this as cancelled.
  FiberNode* next_marked_ = nullptr;

  mutable absl::Mutex mutex_;
  FiberNode* first_child_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // The body, the children, and whoever calls hooks.
  std::int64_t running_ ABSL_GUARDED_BY(mutex_) = 1;
  std::int64_t daemons_ ABSL_GUARDED_BY(mutex_) = 0;  // Of those, daemons.
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;       // All but daemons have ended.
  bool holds_open_ ABSL_GUARDED_BY(mutex_) = false;   // Whoever cancels is still to call hooks.
  absl::Status cancel_reason_ ABSL_GUARDED_BY(mutex_);
  CombinedError errors_ ABSL_GUARDED_BY(mutex_);
  HookId next_hook_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<Hook> hooks_ ABSL_GUARDED_BY(mutex_);
  InterruptibleWait* wait_ ABSL_GUARDED_BY(mutex_) = nullptr;  // Held; made when first needed.
  std::uint64_t waits_for_ ABSL_GUARDED_BY(mutex_) = 0;        // The id of a fiber, if of one.
  const Runner* waits_for_work_of_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FIBER_NODE_H_
