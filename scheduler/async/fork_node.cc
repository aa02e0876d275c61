#include "scheduler/async/fork_node.h"

#include <utility>

#include "scheduler/pool/futex.h"

namespace jackdaw {
namespace {

// Looks at an unfinished fork before its joiner sleeps: some microseconds, for a wake from
// sleep costs tens of them.
constexpr int kLooksBeforeSleep = 200;

struct ThreadState {
  int forks = 0;                // Offered on this thread and not joined.
  int help_depth = 0;           // Waits on this thread's stack that help.
  ForkNode* serving = nullptr;  // The fork of another worker that this thread runs.
};
thread_local constinit ThreadState thread_state;

void Relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void ForkNode::Offer() {
  owner_ = thread_state.forks < kMaxForksPerThread ? WorkerContext::Current() : nullptr;
  if (owner_ == nullptr) {
    body_(this, Verb::kRun);
    return;
  }
  ++thread_state.forks;
  owner_->PushFork(this);
  if (thread_state.serving != nullptr) thread_state.serving->WakeJoinerToHelp();
}

void ForkNode::JoinNode() {
  joined_ = true;
  if (owner_ == nullptr) return;
  --thread_state.forks;
  if (owner_->TakeBack(this)) {
    body_(this, Verb::kRun);
  } else {
    WaitForTaker(*owner_);
  }
}

void ForkNode::OnTaker(Task* task, Verb verb) noexcept {
  auto* node = static_cast<ForkNode*>(task);
  if (verb == Verb::kDrop) {
    node->body_(node, verb);
    node->Finish();
    return;
  }
  WorkerContext* worker = WorkerContext::Current();
  ForkNode* const served_before = thread_state.serving;
  thread_state.serving = nullptr;
  if (worker->Depth() == 0) {
    node->taker_.store(worker->index(), std::memory_order_relaxed);
    thread_state.serving = node;
  }
  node->body_(node, verb);
  thread_state.serving = served_before;
  node->Finish();
}

void ForkNode::Finish() {
  std::atomic<std::uint32_t>& state = state_;
  if (state.exchange(kDone, std::memory_order_acq_rel) == kJoinerSleeps) Futex::Wake(state);
}

// The taker has forked again, so there is something to help with.
void ForkNode::WakeJoinerToHelp() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  if (state != kJoinerSleeps) return;
  if (state_.compare_exchange_strong(state, kOpen, std::memory_order_relaxed)) Futex::Wake(state_);
}

void ForkNode::WaitForTaker(WorkerContext& worker) {
  const bool may_help = thread_state.help_depth < kMaxHelpDepth;
  ++thread_state.help_depth;
  for (int looks = 0; !is_done();) {
    const std::int32_t taker = taker_.load(std::memory_order_relaxed);
    if (may_help && taker != kNobody && worker.RunOldestOf(taker, &ForkNode::OnTaker)) {
      looks = 0;
      continue;
    }
    if (++looks < kLooksBeforeSleep) {
      Relax();
      continue;
    }
    std::uint32_t state = kOpen;
    if (state_.compare_exchange_strong(state, kJoinerSleeps, std::memory_order_acquire)) {
      while (state_.load(std::memory_order_acquire) == kJoinerSleeps) {
        Futex::Wait(state_, kJoinerSleeps);
      }
    }
    looks = 0;
  }
  --thread_state.help_depth;
}

}  // namespace jackdaw
