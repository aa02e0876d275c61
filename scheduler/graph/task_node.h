// TaskNode: what the graph must touch of a task when its dependencies end and when it runs, in
// sixteen bytes, so that the tasks of a layer fit the first-level cache. Its state, its
// attempt number and its count of unfinished dependencies share one word, so that each
// change of state is at most one read-modify-write. The rest of the task is in task_cell.h.
//
// Thread safety
//   SetUp() by the adding thread, before anything else can reach the node. The rest from
//   any thread, but End() only by the owner of the attempt: the worker that started it,
//   or, where others might end it too (a timeout, a detached action), whoever Claim() chose.
//
// Invariants
//   (1) State changes only in the methods of this class.
//   (2) The owner of an attempt alone writes the outcome, before the state that shows it.
//   (3) A terminal state never changes.
//   (4) A task that waits for nothing more, and has nothing against it, is QUEUED: the
//       decrement that ends the last dependency makes it so, without another write.
//
// Memory order
//   Outcome       written, then End() stores the word with release; state() loads it with
//                 acquire. Weaker, a dependent could read the output before it is there.
//   Dependencies  each DependencyEnded() is a read-modify-write with acq_rel, so the one
//                 that brings the count to zero has seen what all the others released.
//   Stop          EndToBackoff() and RequestStop() are both read-modify-writes of the word:
//                 one of the two sees the other, and a cancelled task does not come back.

#ifndef JACKDAW_SCHEDULER_GRAPH_TASK_NODE_H_
#define JACKDAW_SCHEDULER_GRAPH_TASK_NODE_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

class TaskNode {
 public:
  // WAITING for `dependencies` others; without any it is QUEUED. `kind`: its place among the
  // job's.
  void SetUp(std::uint32_t kind, std::uint32_t dependencies, RunIf run_if);

  // What came of telling the task that a dependency ended.
  enum class Arrival {
    kNotYet,   // It waits for more, or was cancelled before.
    kReady,    // It is QUEUED now: the caller queues it.
    kSkipped,  // It is SKIPPED now: the caller tells its dependents.
  };
  Arrival DependencyEnded(TaskState how);
  // The adder's hold on a task that it is still adding: one more dependency to wait for, one
  // that succeeds. Hold() before others can reach the task.
  void Hold() { word_.fetch_add(1, std::memory_order_relaxed); }
  Arrival ReleaseHold() { return DependencyEnded(TaskState::kSucceeded); }

  // From `from` to `to`; false if the state is not `from`. Not from or to RUNNING.
  bool Move(TaskState from, TaskState to);
  // QUEUED to RUNNING as the next attempt, owned by the caller; false if it is not QUEUED.
  bool Start();
  // Takes a task that is QUEUED after `attempt` attempts out of the queue to end it without
  // another; the caller owns it.
  bool ClaimQueued(int attempt);
  // Makes the caller the owner of attempt `attempt`, if it is running and has none.
  bool Claim(int attempt);

  // RUNNING to the terminal state `to`; `code` is why it is FAILED. By the owner.
  void End(TaskState to, absl::StatusCode code = absl::StatusCode::kOk);
  // RUNNING to BACKOFF; false if a cancel was requested meanwhile: the state stays. By the owner.
  bool EndToBackoff();

  // Asks the attempt that runs to stop, for a cancel, and returns the state in which that found
  // the task.
  TaskState RequestStop();
  // The same for the time-out of attempt `attempt`; false if that is not the one that runs.
  bool RequestTimeout(int attempt);
  [[nodiscard]] bool stop_requested() const { return Has(kStop | kTimedOut); }
  [[nodiscard]] bool cancel_requested() const { return Has(kStop); }
  [[nodiscard]] bool timed_out() const { return Has(kTimedOut); }
  // Whether attempt `attempt` is no longer wanted: it was asked to stop, or given up.
  [[nodiscard]] bool ShouldStop(int attempt) const;

  [[nodiscard]] TaskState state() const { return StateOf(word_.load(std::memory_order_acquire)); }
  // The latest attempt that started, from 1; 0: none has.
  [[nodiscard]] int attempt() const { return AttemptOf(word_.load(std::memory_order_acquire)); }
  // Requires that the state was read and is FAILED.
  [[nodiscard]] absl::StatusCode code() const {
    return static_cast<absl::StatusCode>(word_.load(std::memory_order_relaxed) >> kCodeShift);
  }
  [[nodiscard]] std::uint32_t kind() const { return kind_; }

  // Where the run of its dependents within its batch ends; that of the task before ends where
  // this one's begins. Set by the adder; see edges.h.
  [[nodiscard]] std::uint32_t& dependents_end() { return dependents_end_; }

 private:
  static constexpr int kAttemptShift = 32;
  static constexpr int kStateShift = 48;
  static constexpr int kCodeShift = 59;
  static constexpr std::uint64_t kPendingMask = 0xffffffff;
  static constexpr std::uint64_t kStateMask = 0xfull << kStateShift;
  static constexpr std::uint64_t kSomeFailed = 1ull << 52;
  static constexpr std::uint64_t kSomeNotSucceeded = 1ull << 53;
  static constexpr std::uint64_t kStop = 1ull << 54;
  static constexpr std::uint64_t kTimedOut = 1ull << 55;
  static constexpr std::uint64_t kOwned = 1ull << 56;
  static constexpr std::uint64_t kRunIfAllDone = 1ull << 57;
  static constexpr std::uint64_t kRunIfAnyFailed = 1ull << 58;
  // With one of these it must be decided, once nothing is pending, whether the task runs.
  static constexpr std::uint64_t kUndecided = kSomeNotSucceeded | kRunIfAnyFailed;

  static_assert(static_cast<int>(TaskState::kWaiting) == 0);
  static bool JustQueued(std::uint64_t word) {
    return (word & (kStateMask | kPendingMask | kUndecided)) == 0;
  }
  static TaskState StateOf(std::uint64_t word) {
    return JustQueued(word) ? TaskState::kQueued
                            : static_cast<TaskState>((word & kStateMask) >> kStateShift);
  }
  static int AttemptOf(std::uint64_t word) {
    return static_cast<int>(word >> kAttemptShift & 0xffff);
  }
  static std::uint64_t WithState(std::uint64_t word, TaskState state) {
    return (word & ~kStateMask) | static_cast<std::uint64_t>(state) << kStateShift;
  }
  // Whether a task whose dependencies have all ended runs.
  static bool Runs(std::uint64_t word) {
    return (word & kRunIfAnyFailed) != 0
               ? (word & kSomeFailed) != 0
               : (word & kRunIfAllDone) != 0 || (word & kSomeNotSucceeded) == 0;
  }
  [[nodiscard]] bool Has(std::uint64_t flag) const {
    return (word_.load(std::memory_order_acquire) & flag) != 0;
  }
  // Changes the word to `change(word)` for as long as `may(word)`; false once it may not.
  template <typename May, typename Change>
  bool Update(May may, Change change);
  Arrival Decide(std::uint64_t word);

  std::atomic<std::uint64_t> word_{0};
  std::uint32_t kind_ = 0;
  std::uint32_t dependents_end_ = 0;
};

static_assert(sizeof(TaskNode) == 16, "four in a cache line");

template <typename May, typename Change>
bool TaskNode::Update(May may, Change change) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (may(word)) {
    if (word_.compare_exchange_weak(word, change(word), std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

inline void TaskNode::SetUp(std::uint32_t kind, std::uint32_t dependencies, RunIf run_if) {
  const std::uint64_t flags = run_if == RunIf::kAllDone     ? kRunIfAllDone
                              : run_if == RunIf::kAnyFailed ? kRunIfAnyFailed
                                                            : 0;
  kind_ = kind;
  word_.store(dependencies | flags, std::memory_order_relaxed);
}

inline TaskNode::Arrival TaskNode::DependencyEnded(TaskState how) {
  if (how != TaskState::kSucceeded) {
    const std::uint64_t flags =
        how == TaskState::kFailed ? kSomeFailed | kSomeNotSucceeded : kSomeNotSucceeded;
    word_.fetch_or(flags, std::memory_order_relaxed);
  }
  const std::uint64_t word = word_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if ((word & kPendingMask) != 0) return Arrival::kNotYet;
  return JustQueued(word) ? Arrival::kReady : Decide(word);
}

inline bool TaskNode::Start() {
  return Update([](std::uint64_t word) { return StateOf(word) == TaskState::kQueued; },
                [](std::uint64_t word) {
                  return WithState((word + (1ull << kAttemptShift)) & ~(kStop | kTimedOut | kOwned),
                                   TaskState::kRunning);
                });
}

// A stop flag that is set between the load and the store may be lost: the task has ended.
inline void TaskNode::End(TaskState to, absl::StatusCode code) {
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  word_.store(WithState(word, to) | static_cast<std::uint64_t>(code) << kCodeShift,
              std::memory_order_release);
}

inline bool TaskNode::ShouldStop(int attempt) const {
  const std::uint64_t word = word_.load(std::memory_order_acquire);
  return (word & (kStop | kTimedOut | kOwned)) != 0 || StateOf(word) != TaskState::kRunning ||
         AttemptOf(word) != attempt;
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_TASK_NODE_H_
