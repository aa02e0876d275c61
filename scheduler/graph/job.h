// Job: one graph of tasks. Append-only while open, sealed when closed, done when sealed
// and every task is terminal. Made by JobEngine::Create().
//
// Thread safety: every method from any thread, at any time. A job is kept by shared_ptr;
// one that is not done is kept alive by its engine.
//
// Invariants
//   (1) A terminal task stays terminal; its outcome never changes.
//   (2) A task starts only when all its dependencies are terminal, after their outcomes
//       can be seen.
//   (3) Nothing queued, running or in backoff means: done, or open and waiting for more.
//   (4) A refused batch leaves the job as it was.

#ifndef JACKDAW_SCHEDULER_GRAPH_JOB_H_
#define JACKDAW_SCHEDULER_GRAPH_JOB_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

struct JobOptions {
  std::string id;  // Unique among the engine's jobs; the caller's choice.
  FailurePolicy failure_policy = FailurePolicy::kContinue;
  Priority priority = Priority::kNormal;          // Weighs the job among others: 1, 4, 16.
  absl::Duration timeout = absl::ZeroDuration();  // Whole job; zero: none.
};

// The record of one attempt. Times are infinite where they have not come yet.
struct AttemptRecord {
  int number = 0;
  absl::Time queued = absl::InfiniteFuture();
  absl::Time started = absl::InfiniteFuture();
  absl::Time ended = absl::InfiniteFuture();
  int worker = -1;  // The worker that started it; -1: none has.
  bool stolen = false;
  absl::Status status;  // Of an attempt that ended.
  Bytes log;
};

struct TaskSnapshot {
  TaskIndex index = 0;
  std::string id;
  TaskState state = TaskState::kWaiting;
  absl::Status status;  // Why it is FAILED, CANCELLED or SKIPPED. OK otherwise.
  Bytes output;         // Of a task that SUCCEEDED.
  int attempts = 0;     // Started so far.
  std::vector<AttemptRecord> attempt_records;  // Oldest first; the last kMaxAttemptRecords.
  std::vector<TaskIndex> dependencies;
  std::shared_ptr<Action> action;
};

struct JobSnapshot {
  JobState state = JobState::kOpen;
  absl::Status status;  // Why it is FAILED or CANCELLED: names the first task that failed.
  std::array<std::int64_t, kTaskStateCount> tasks{};  // By state.
  std::int64_t task_count = 0;
  std::uint64_t revision = 0;
  absl::Time created = absl::InfiniteFuture();
  absl::Time started = absl::InfiniteFuture();  // Of the first attempt.
  absl::Time ended = absl::InfiniteFuture();
};

// What changed after a revision. `resync`: too much to tell; read everything anew.
struct JobChanges {
  std::uint64_t revision = 0;  // Ask from here next time.
  bool resync = false;
  std::vector<TaskIndex> tasks;  // Each once.
};

class Job {
 public:
  static constexpr std::size_t kMaxAttemptRecords = 16;
  static constexpr std::int64_t kMaxTasks = std::int64_t{1} << 27;
  static constexpr std::int64_t kMaxDependencies = std::int64_t{1} << 30;  // Of all its tasks.

  virtual ~Job() = default;

  [[nodiscard]] virtual const std::string& id() const = 0;

  // Adds `batch` whole or not at all, and returns the index of its first task; the tasks may
  // start before it returns. INVALID_ARGUMENT: the batch is wrong (see Validate()), has a
  // cycle or repeats an id. FAILED_PRECONDITION: the job is sealed. RESOURCE_EXHAUSTED: the
  // job would exceed kMaxTasks or kMaxDependencies.
  virtual absl::StatusOr<TaskIndex> Add(TaskBatch batch) = 0;

  // Seals the job. Idempotent.
  virtual void Close() = 0;

  // Seals the job, cancels what has not started, asks what runs to stop. `reason` becomes
  // the job's status. No effect on a job that is done or cancelling.
  virtual void Cancel(absl::Status reason) = 0;

  [[nodiscard]] virtual JobState state() const = 0;
  [[nodiscard]] virtual JobSnapshot Snapshot() const = 0;

  [[nodiscard]] virtual std::int64_t task_count() const = 0;
  // Requires `index` < task_count().
  [[nodiscard]] virtual TaskState task_state(TaskIndex index) const = 0;
  [[nodiscard]] virtual TaskSnapshot Task(TaskIndex index) const = 0;
  [[nodiscard]] virtual std::string TaskId(TaskIndex index) const = 0;
  [[nodiscard]] virtual std::optional<TaskIndex> Find(absl::string_view task_id) const = 0;

  // Calls `callback` once, when the job is done: at once if it is. On a worker, or on the
  // thread that ended the job; it must be short and may not destroy the engine.
  virtual void OnDone(std::function<void()> callback) = 0;

  // Blocks until the job is done. Not on a worker of the engine's pool.
  virtual void Wait() = 0;

  // Watching. After AddWatcher(), `notify` is called after every change (from any thread,
  // coalesced: at least once after the last one); it must be short. The watcher then asks
  // for the changes at its own pace: memory does not grow with a slow one.
  using WatcherId = std::uint64_t;
  virtual WatcherId AddWatcher(std::function<void()> notify) = 0;
  // Once it returns, `notify` is not running and never will again. Not from inside it.
  virtual void RemoveWatcher(WatcherId id) = 0;
  // The tasks that changed after `revision` (0: all, as a resync).
  [[nodiscard]] virtual JobChanges ChangesSince(std::uint64_t revision) const = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_JOB_H_
