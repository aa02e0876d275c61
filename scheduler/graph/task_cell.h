// TaskCell: one task of a job, in one cache line. It is what the pool runs and what dependents
// wait on. Its state, its attempt number and its count of unfinished dependencies share
// one word, so that each change of state is one read-modify-write of it.
//
// Thread safety
//   SetUp() by the adding thread, before anything else can reach the cell. The rest from
//   any thread, but End...() only by the owner of the attempt: the worker that started it,
//   or, where others might end it too (a timeout, a detached action), whoever Claim() chose.
//
// Invariants
//   (1) State changes only in the methods of this class.
//   (2) The owner of an attempt alone writes the outcome, before the state that shows it.
//   (3) A terminal state never changes.
//
// Memory order
//   Outcome       written, then End...() changes the word with release; state() loads it
//                 with acquire. Weaker, a dependent could read the output before it is there.
//   Dependencies  each DependencyEnded() is a read-modify-write with acq_rel, so the one
//                 that brings the count to zero has seen what all the others released.
//   Stop          End(kBackoff) and RequestStop() are both read-modify-writes of the word:
//                 one of the two sees the other, and a cancelled task does not come back.

#ifndef JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_
#define JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/action.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/policy.h"
#include "scheduler/graph/state.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class JobImpl;

// What many tasks of a job have in common.
struct TaskKind {
  std::shared_ptr<Action> action;
  TaskPolicy policy;
  JobImpl* job = nullptr;
  bool instant = false;
};

// A time as a record keeps it: in units of 64 ns since the job was created, in 48 bits (208
// days), beside 16 bits of something else.
struct Stamp {
  static constexpr std::uint64_t kNone = (1ull << 48) - 1;
  static constexpr int kUnitBits = 6;

  static std::uint64_t Pack(std::int64_t ns, std::uint16_t extra = 0) {
    return static_cast<std::uint64_t>(ns) >> kUnitBits | static_cast<std::uint64_t>(extra) << 48;
  }
  static bool IsSet(std::uint64_t stamp) { return (stamp & kNone) != kNone; }
  static std::int64_t Nanos(std::uint64_t stamp) {
    return static_cast<std::int64_t>((stamp & kNone) << kUnitBits);
  }
  static std::uint16_t Extra(std::uint64_t stamp) {
    return static_cast<std::uint16_t>(stamp >> 48);
  }
};

// Who started an attempt, as the 16 bits beside its start.
struct StartedBy {
  int worker = -1;  // -1: not known.
  bool stolen = false;

  static constexpr std::uint16_t kStolen = 1 << 15;
  [[nodiscard]] std::uint16_t Pack() const {
    return static_cast<std::uint16_t>((worker + 1) | (stolen ? kStolen : 0));
  }
  static StartedBy Unpack(std::uint64_t stamp) {
    const std::uint16_t extra = Stamp::Extra(stamp);
    return {static_cast<int>(extra & ~kStolen) - 1, (extra & kStolen) != 0};
  }
};

// When a task was queued for its latest attempt, and that started and ended: written once each and
// rarely read, so apart from the cell. Relaxed: a record read meanwhile may be incomplete, never
// torn.
struct TaskTimes {
  std::atomic<std::uint64_t> queued{Stamp::kNone};
  std::atomic<std::uint64_t> started{Stamp::kNone};  // Carries a StartedBy.
  std::atomic<std::uint64_t> ended{Stamp::kNone};
};

class alignas(64) TaskCell final : public Task {
 public:
  TaskCell() : Task(&TaskCell::Invoke), output_() {}
  ~TaskCell();

  // WAITING for `edge_count` dependencies, those of the edges from `first_edge` on.
  void SetUp(TaskKind* kind, TaskIndex index, std::uint32_t first_edge, std::uint32_t edge_count,
             Bytes payload);

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

  // RUNNING to a terminal state. By the owner.
  void EndSucceeded(Bytes output);
  void EndFailed(absl::Status status);
  void EndCancelled();
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
  [[nodiscard]] bool ShouldStop(int attempt) const {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    return (word & (kStop | kTimedOut | kOwned)) != 0 || StateOf(word) != TaskState::kRunning ||
           AttemptOf(word) != attempt;
  }

  [[nodiscard]] TaskState state() const { return StateOf(word_.load(std::memory_order_acquire)); }
  // The latest attempt that started, from 1; 0: none has.
  [[nodiscard]] int attempt() const { return AttemptOf(word_.load(std::memory_order_acquire)); }
  [[nodiscard]] TaskIndex index() const { return index_; }
  [[nodiscard]] TaskKind& kind() const { return *kind_; }
  [[nodiscard]] std::uint32_t first_edge() const { return first_edge_; }
  [[nodiscard]] std::uint32_t edge_count() const { return edge_count_; }
  [[nodiscard]] const Bytes& payload() const { return payload_; }
  // Requires that the state was read, and is SUCCEEDED and FAILED respectively.
  [[nodiscard]] const Bytes& output() const { return output_; }
  [[nodiscard]] const absl::Status& status() const { return status_; }

  // The run of its dependents within its batch; set by the adder. See edges.h.
  void SetDependents(std::uint32_t first, std::uint32_t count) {
    first_dependent_ = first;
    dependent_count_ = count;
  }
  [[nodiscard]] std::uint32_t first_dependent() const { return first_dependent_; }
  [[nodiscard]] std::uint32_t dependent_count() const { return dependent_count_; }
  // The head of the list of its later dependents; 0: none; kClosed: the task has ended and
  // takes no more.
  static constexpr std::uint32_t kClosed = 0xffffffff;
  std::atomic<std::uint32_t>& later_dependents() { return later_dependents_; }

 private:
  static constexpr int kAttemptShift = 32;
  static constexpr int kStateShift = 48;
  static constexpr std::uint64_t kPendingMask = 0xffffffff;
  static constexpr std::uint64_t kStateMask = 0xffull << kStateShift;
  static constexpr std::uint64_t kSomeFailed = 1ull << 56;
  static constexpr std::uint64_t kSomeNotSucceeded = 1ull << 57;
  static constexpr std::uint64_t kStop = 1ull << 58;
  static constexpr std::uint64_t kTimedOut = 1ull << 59;
  static constexpr std::uint64_t kOwned = 1ull << 60;

  static TaskState StateOf(std::uint64_t word) {
    return static_cast<TaskState>((word & kStateMask) >> kStateShift);
  }
  static int AttemptOf(std::uint64_t word) {
    return static_cast<int>(word >> kAttemptShift & 0xffff);
  }
  static std::uint64_t WithState(std::uint64_t word, TaskState state) {
    return (word & ~kStateMask) | static_cast<std::uint64_t>(state) << kStateShift;
  }
  [[nodiscard]] bool Has(std::uint64_t flag) const {
    return (word_.load(std::memory_order_acquire) & flag) != 0;
  }
  [[nodiscard]] TaskState AfterDependencies(std::uint64_t word) const;
  void End(TaskState to);

  static void Invoke(Task* task, Verb verb) noexcept;

  std::atomic<std::uint64_t> word_{0};
  TaskKind* kind_ = nullptr;
  std::atomic<std::uint32_t> later_dependents_{0};
  std::uint32_t first_dependent_ = 0;
  std::uint32_t dependent_count_ = 0;
  std::uint32_t index_ = 0;
  std::uint32_t first_edge_ = 0;
  std::uint32_t edge_count_ = 0;
  union {  // `status_` if the state is FAILED, or about to be.
    Bytes output_;
    absl::Status status_;
  };
  Bytes payload_;
};

static_assert(sizeof(TaskCell) + sizeof(TaskTimes) == 88,
              "with four dependencies of 8 bytes, 120 bytes a task");

inline TaskState TaskCell::AfterDependencies(std::uint64_t word) const {
  const bool run = kind_->policy.run_if == RunIf::kAllDone ||
                   (kind_->policy.run_if == RunIf::kAllSucceeded ? (word & kSomeNotSucceeded) == 0
                                                                 : (word & kSomeFailed) != 0);
  return run ? TaskState::kQueued : TaskState::kSkipped;
}

inline TaskCell::Arrival TaskCell::DependencyEnded(TaskState how) {
  if (how != TaskState::kSucceeded) {
    const std::uint64_t flags =
        how == TaskState::kFailed ? kSomeFailed | kSomeNotSucceeded : kSomeNotSucceeded;
    word_.fetch_or(flags, std::memory_order_relaxed);
  }
  std::uint64_t word = word_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if ((word & kPendingMask) != 0) return Arrival::kNotYet;
  // Nobody else will decide: only a cancel can come between.
  while (StateOf(word) == TaskState::kWaiting) {
    const TaskState next = AfterDependencies(word);
    if (word_.compare_exchange_weak(word, WithState(word, next), std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return next == TaskState::kQueued ? Arrival::kReady : Arrival::kSkipped;
    }
  }
  return Arrival::kNotYet;
}

inline bool TaskCell::Start() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (StateOf(word) == TaskState::kQueued) {
    const std::uint64_t next = WithState(
        (word + (1ull << kAttemptShift)) & ~(kStop | kTimedOut | kOwned), TaskState::kRunning);
    if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// A stop flag that is set between the load and the store may be lost: the task has ended.
inline void TaskCell::End(TaskState to) {
  word_.store(WithState(word_.load(std::memory_order_relaxed), to), std::memory_order_release);
}

inline void TaskCell::EndSucceeded(Bytes output) {
  if (!output.empty()) output_ = std::move(output);
  End(TaskState::kSucceeded);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_
