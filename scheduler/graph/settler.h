// Settler: carries the end of tasks to those that depend on them. One thread makes one,
// ends tasks through it, queues what became ready, and flushes what happened to the job's
// progress. It collects, so that a run of small tasks costs the job one update.
//
// Thread safety: none; one per thread and occasion. The caller holds a lease on the job.

#ifndef JACKDAW_SCHEDULER_GRAPH_SETTLER_H_
#define JACKDAW_SCHEDULER_GRAPH_SETTLER_H_

#include <cstdint>
#include <vector>

#include "scheduler/graph/action.h"
#include "scheduler/graph/job_impl.h"
#include "scheduler/graph/lookahead.h"
#include "scheduler/graph/progress.h"
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

class Settler {
 public:
  // Ready tasks are collected in `ready`. `worker`: that of the calling thread, or
  // ActionStats::kNoWorker.
  Settler(JobImpl& job, std::vector<TaskCell*>& ready, int worker);
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;

  // The time that is stamped on what happens now, since the job's creation. As of the last Tick().
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  void Tick() {
    now_ns_ = job_.now_ns();
    now_stamp_ = Stamp::Pack(now_ns_);
  }
  [[nodiscard]] std::uint64_t now_stamp() const { return now_stamp_; }

  [[nodiscard]] ProgressDelta& delta() { return delta_; }

  // Ends the attempt that the caller owns, in the state that `outcome` and the task's policy
  // ask for, and tells the dependents.
  void EndAttempt(TaskCell& cell, Outcome outcome);
  // Fails a task that the caller claimed in the queue.
  void EndQueued(TaskCell& cell, absl::Status status);
  // The task went from `from` to the terminal state `to`: tells its dependents.
  void Ended(TaskCell& cell, TaskState from, TaskState to);
  // Ends the adder's hold on a new task.
  void Release(TaskCell& cell);
  // `cell` is QUEUED now: stamps it and adds it to the ready ones.
  void Ready(TaskCell& cell, TaskState from);

  // Hands every ready task to the job's ready queue. After Flush(): others may run them at
  // once, and the job's counts should have seen them ready before they see them ended.
  void QueueReady();
  // Applies what was collected to the job's progress, and what follows from it: fail fast,
  // the job's end. After the end the job is alive only by the caller's lease.
  void Flush() {
    if (!delta_.empty()) FlushEvenIfEmpty();
  }
  // The same when nothing was collected: the job may have ended by being sealed.
  void FlushEvenIfEmpty();

 private:
  // Whether the policy and the job allow another attempt after one that ended in `status`.
  [[nodiscard]] bool MayRetry(const TaskCell& cell, const absl::Status& status) const;
  // Puts the task aside for its next attempt; false if it was cancelled meanwhile.
  [[nodiscard]] bool PutAside(TaskCell& cell);
  void Record(TaskCell& cell, const absl::Status& status, Bytes log, bool final);
  // Sees to a task that one of its dependencies told of its end.
  void Arrived(TaskCell& cell, TaskCell::Arrival arrival);
  // Tells the dependents of `cell` that it ended; those skipped by it are in `skipped_` then.
  void TellDependents(TaskCell& cell, TaskState state);
  void TellDependent(TaskCell& dependent, TaskState state);
  void TellDependentsOfSkipped();

  JobImpl& job_;
  std::vector<TaskCell*>& ready_;
  const int worker_;
  const bool sealed_;
  std::int64_t now_ns_ = 0;
  std::uint64_t now_stamp_ = 0;
  ProgressDelta delta_;
  const TaskIndex count_;
  Lookahead lookahead_;
  std::vector<TaskCell*> skipped_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_SETTLER_H_
