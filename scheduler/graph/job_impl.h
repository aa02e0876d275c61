// JobImpl: the job behind the Job interface. It owns the graph (nodes, cells, edges, names), its
// progress, and the records of attempts. What happens as tasks run is in settler.h and
// run_loop.h; this class adds tasks, cancels, times out and answers questions.
//
// Thread safety: every method from any thread, unless it says otherwise.
//
// Invariants
//   (1) `nodes_` and `cells_` up to `task_count_` (stored with release) are set up and never move.
//   (2) The job is alive while it has leases. One is its own until it is done; whatever
//       holds a bare pointer to the job or a cell of it holds another.
//   (3) Sealed (JobProgress::sealed(), acquire) implies that no batch is being added:
//       `add_mutex_` is held to add and to seal.

#ifndef JACKDAW_SCHEDULER_GRAPH_JOB_IMPL_H_
#define JACKDAW_SCHEDULER_GRAPH_JOB_IMPL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/base/segmented.h"
#include "scheduler/graph/attempt_records.h"
#include "scheduler/graph/edges.h"
#include "scheduler/graph/engine_core.h"
#include "scheduler/graph/feeder.h"
#include "scheduler/graph/job.h"
#include "scheduler/graph/names.h"
#include "scheduler/graph/progress.h"
#include "scheduler/graph/running_attempts.h"
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

class Settler;

class JobImpl final : public Job, public std::enable_shared_from_this<JobImpl> {
 public:
  JobImpl(std::shared_ptr<EngineCore> core, JobOptions options);

  // Called once, after the core adopted the job and its first tasks are in: sets the job's
  // timer.
  void ArmJobTimeout();

  [[nodiscard]] const std::string& id() const override { return options_.id; }
  absl::StatusOr<TaskIndex> Add(TaskBatch batch) override;
  void Close() override;
  void Cancel(absl::Status reason) override;
  [[nodiscard]] JobState state() const override { return progress_.state(); }
  [[nodiscard]] JobSnapshot Snapshot() const override;
  [[nodiscard]] std::int64_t task_count() const override {
    return task_count_.load(std::memory_order_acquire);
  }
  [[nodiscard]] TaskState task_state(TaskIndex index) const override {
    return nodes_[index].state();
  }
  [[nodiscard]] TaskSnapshot Task(TaskIndex index) const override;
  [[nodiscard]] std::string TaskId(TaskIndex index) const override { return names_.NameOf(index); }
  [[nodiscard]] std::optional<TaskIndex> Find(absl::string_view task_id) const override;
  void OnDone(std::function<void()> callback) override { progress_.OnDone(std::move(callback)); }
  void Wait() override { progress_.Wait(); }
  WatcherId AddWatcher(std::function<void()> notify) override;
  void RemoveWatcher(WatcherId id) override { progress_.RemoveWatcher(id); }
  [[nodiscard]] JobChanges ChangesSince(std::uint64_t revision) const override {
    return progress_.ChangesSince(revision);
  }

  // For the settler, the run loop and the feeder.
  [[nodiscard]] EngineCore& core() { return *core_; }
  [[nodiscard]] TaskCell& cell(TaskIndex index) { return cells_[index]; }
  [[nodiscard]] const TaskCell& cell(TaskIndex index) const { return cells_[index]; }
  [[nodiscard]] TaskNode& node(TaskIndex index) { return nodes_[index]; }
  [[nodiscard]] const TaskNode& node(TaskIndex index) const { return nodes_[index]; }
  [[nodiscard]] const Segmented<TaskNode>& nodes() const { return nodes_; }
  [[nodiscard]] const Segmented<TaskTimes>& times() const { return times_; }
  [[nodiscard]] TaskKind& kind(std::uint32_t place) { return kinds_[place]; }
  [[nodiscard]] const TaskKind& kind_of(TaskIndex index) const {
    return kinds_[nodes_[index].kind()];
  }
  [[nodiscard]] Bytes payload(TaskIndex index) const;
  [[nodiscard]] Edges& edges() { return edges_; }
  [[nodiscard]] JobProgress& progress() { return progress_; }
  [[nodiscard]] AttemptRecords& records() { return records_; }
  [[nodiscard]] RunningAttempts& running() { return running_; }
  [[nodiscard]] FeederEntry& feeder_entry() { return feeder_entry_; }
  [[nodiscard]] bool fails_fast() const {
    return options_.failure_policy == FailurePolicy::kFailFast;
  }
  // Whether its tasks differ in priority, so that all must pass through the ready queue.
  [[nodiscard]] bool mixes_priorities() const {
    return mixes_priorities_.load(std::memory_order_relaxed);
  }
  // Whether some task has a queue timeout.
  [[nodiscard]] bool limits_queue_time() const {
    return limits_queue_time_.load(std::memory_order_relaxed);
  }
  // Nanoseconds since the job was created.
  [[nodiscard]] std::int64_t now_ns() const;

  // An attempt started at `since_creation_ns`; the first is the job's start.
  void MarkStarted(std::int64_t since_creation_ns) {
    if (started_.load(std::memory_order_relaxed)) return;
    started_.store(true, std::memory_order_relaxed);
    progress_.Started(since_creation_ns);
  }

  // See invariant (2). The last DropLeases() may destroy the job.
  void AddLeases(std::int64_t count) { leases_.fetch_add(count, std::memory_order_relaxed); }
  void DropLeases(std::int64_t count);
  // For who has none: false if the job has been done and let go.
  [[nodiscard]] bool TryAddLease();
  // The job is done: tells who waits for it and drops the job's own lease.
  void Finish();

  // Ends or queues a task outside a run loop. The caller owns what it settles, or holds a lease:
  // the job cannot end before.
  void SettleElsewhere(const std::function<void(Settler&)>& settle);

  // Timers: at most one a task, which goes when the task starts, ends or is cancelled.
  void WatchQueueTime(TaskIndex task);
  void WatchAttemptTime(TaskIndex task);
  void StopWatching(TaskIndex task);
  void RetryAfter(TaskIndex task, absl::Duration wait);

  // The record of the latest attempt of `task`, as its times have it.
  [[nodiscard]] AttemptRecord LatestAttempt(TaskIndex task) const;

 private:
  // The parts of Add(), in order.
  absl::Status CheckBatch(const TaskBatch& batch) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(add_mutex_);
  // Adds the kinds of `batch`, whose first task is `first`, and returns the place of the first.
  std::uint32_t AddKinds(TaskBatch& batch, TaskIndex first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(add_mutex_);
  void AddCells(TaskBatch& batch, TaskIndex first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(add_mutex_);
  // Adds the edges of the new tasks. Returns the tasks that the adder holds back: those that
  // could start meanwhile.
  std::vector<TaskIndex> LinkEdges(const TaskBatch& batch, TaskIndex first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(add_mutex_);
  void LinkToOlder(TaskIndex task, TaskIndex first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(add_mutex_);
  void ReleaseHeld(const std::vector<TaskIndex>& held) ABSL_LOCKS_EXCLUDED(add_mutex_);

  // CANCELLED for every task that has not started; those that run are asked to stop.
  void CancelTasks();
  void CancelTask(TaskIndex task, Settler& settler);
  void SetTimer(TaskIndex task, absl::Duration wait, std::function<void(JobImpl&)> body);
  void OnQueueTimeout(TaskIndex task, int attempt);
  void OnAttemptTimeout(TaskIndex task, int attempt);
  void OnRetry(TaskIndex task);
  [[nodiscard]] absl::Time TimeOf(std::int64_t since_creation_ns) const;
  [[nodiscard]] absl::Status StatusOf(TaskIndex task, TaskState state) const;

  const std::shared_ptr<EngineCore> core_;
  const JobOptions options_;
  const absl::Time created_;
  const std::int64_t created_ns_;

  absl::Mutex add_mutex_;
  // Grown under `add_mutex_`; read by any thread for tasks below `task_count_`.
  Segmented<TaskKind, 1> kinds_;
  Segmented<TaskNode> nodes_;
  Segmented<TaskCell> cells_;
  Segmented<TaskTimes> times_;
  Segmented<Bytes> payloads_;  // Of the batches that have any.
  Edges edges_;
  std::atomic<std::int64_t> task_count_{0};
  std::atomic<bool> mixes_priorities_{false};
  std::atomic<bool> limits_queue_time_{false};
  std::atomic<bool> started_{false};
  NameTable names_;

  JobProgress progress_;
  AttemptRecords records_;
  RunningAttempts running_;
  FeederEntry feeder_entry_;
  std::atomic<std::int64_t> leases_{1};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_JOB_IMPL_H_
