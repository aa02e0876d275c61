// ForkNode: the part of a fork that does not depend on what is forked. Users see Forked.
//
// Memory order
//   Result   The taker finishes with an acquire-release exchange of `state_`; the joiner
//            loads it with acquire: it sees what the fork did. The node may be gone after
//            that exchange: from then on only the address of `state_` is used.
//   Sleep    The joiner goes from kOpen to kJoinerSleeps by compare-exchange, so it cannot
//            miss kDone; whoever moves the state away from kJoinerSleeps wakes it.

#ifndef JACKDAW_SCHEDULER_ASYNC_FORK_NODE_H_
#define JACKDAW_SCHEDULER_ASYNC_FORK_NODE_H_

#include <atomic>
#include <cstdint>

#include "scheduler/pool/task.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

// Waits for forks that may be nested on one stack while helping; deeper ones do not help.
inline constexpr int kMaxHelpDepth = 64;
// Forks that one thread may have unjoined; the next one runs at once. Far below the capacity
// of a deque.
inline constexpr int kMaxForksPerThread = 4096;

class ForkNode : public Task {
 protected:
  using Body = void (*)(ForkNode*, Verb) noexcept;
  explicit ForkNode(Body body) : Task(&ForkNode::OnTaker), body_(body) {}
  ~ForkNode() = default;

  // Pushes the node on this worker's deque; runs it at once where there is no worker.
  void Offer();
  // Returns when the body has run.
  void JoinNode();
  [[nodiscard]] bool is_joined() const { return joined_; }

 private:
  static constexpr std::uint32_t kOpen = 0;
  static constexpr std::uint32_t kJoinerSleeps = 1;
  static constexpr std::uint32_t kDone = 2;
  static constexpr std::int32_t kNobody = -1;

  // On the worker that took the node from its owner.
  static void OnTaker(Task* task, Verb verb) noexcept;
  void Finish();
  void WakeJoinerToHelp();
  void WaitForTaker(WorkerContext& worker);
  [[nodiscard]] bool is_done() const { return state_.load(std::memory_order_acquire) == kDone; }

  const Body body_;
  std::atomic<std::uint32_t> state_{kOpen};
  // The worker that took the node and had nothing else in its deque: all that is there is of
  // this fork's making. kNobody if it had, or nobody took it.
  std::atomic<std::int32_t> taker_{kNobody};
  bool joined_ = false;             // Owner only.
  WorkerContext* owner_ = nullptr;  // On whose deque it was pushed; null if it ran at once.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FORK_NODE_H_
