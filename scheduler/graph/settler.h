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
  Settler(JobImpl& job, std::vector<TaskIndex>& ready, int worker);
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;

  // The time that is stamped on what happens now, since the job's creation. As of the last Tick().
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  void Tick() {
    now_ns_ = job_.now_ns();
    now_stamp_ = TaskTimes::Stamp(now_ns_);
  }
  [[nodiscard]] std::uint64_t now_stamp() const { return now_stamp_; }

  [[nodiscard]] ProgressDelta& delta() { return delta_; }
  // As JobImpl's, faster for tasks that lie close to each other.
  [[nodiscard]] TaskNode& node(TaskIndex task) { return nodes_[task]; }
  [[nodiscard]] TaskTimes& times(TaskIndex task) { return times_[task]; }

  // Ends the attempt that the caller owns, in the state that `outcome` and the task's policy
  // ask for, and tells the dependents.
  void EndAttempt(TaskIndex task, Outcome outcome);
  // Fails a task that the caller claimed in the queue.
  void EndQueued(TaskIndex task, absl::Status status);
  // The task went from `from` to the terminal state `to`: tells its dependents.
  void Ended(TaskIndex task, TaskState from, TaskState to) {
    delta_.Changed(task, from, to);
    TellDependents(task, to);
    if (!skipped_.empty()) TellDependentsOfSkipped();
  }
  // Ends the adder's hold on a new task.
  void Release(TaskIndex task);
  // `task` is QUEUED now: stamps it and adds it to the ready ones.
  void Ready(TaskIndex task, TaskState from) {
    delta_.Changed(task, from, TaskState::kQueued);
    times_[task].Queued(now_stamp_);
    if (job_.limits_queue_time()) job_.WatchQueueTime(task);
    ready_.push_back(task);
  }

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
  [[nodiscard]] bool MayRetry(TaskIndex task, const absl::Status& status) const;
  // Puts the task aside for its next attempt; false if it was cancelled meanwhile.
  [[nodiscard]] bool PutAside(TaskIndex task);
  void Record(TaskIndex task, const absl::Status& status, Bytes log, bool final);
  void Fail(TaskIndex task, const absl::Status& status);
  // Sees to a task that one of its dependencies told of its end.
  void Arrived(TaskIndex task, TaskNode::Arrival arrival) {
    if (arrival == TaskNode::Arrival::kReady) Ready(task, TaskState::kWaiting);
    if (arrival == TaskNode::Arrival::kSkipped) Skip(task);
  }
  void Skip(TaskIndex task);
  // Tells the dependents of `task` that it ended; those skipped by it are in `skipped_` then.
  void TellDependents(TaskIndex task, TaskState state);
  void TellLaterDependents(TaskIndex task, TaskState state);
  void TellDependentsOfSkipped();
  [[nodiscard]] bool SomeMayHaveLists() const;

  JobImpl& job_;
  std::vector<TaskIndex>& ready_;
  const int worker_;
  bool some_have_lists_;  // Of later dependents, or may get one.
  std::int64_t now_ns_ = 0;
  std::uint64_t now_stamp_ = 0;
  ProgressDelta delta_;
  const TaskIndex count_;
  Segmented<TaskNode>::Cursor nodes_;
  Segmented<TaskTimes>::Cursor times_;
  Segmented<TaskIndex>::Cursor dependents_;
  Lookahead lookahead_;
  std::vector<TaskIndex> skipped_;
};

inline void Settler::TellDependents(TaskIndex task, TaskState state) {
  lookahead_.Step(task, count_);
  const EdgeRun run = DependentsOf(task, nodes_);
  // Last to first, so that the first, whose neighbour in memory ran just now, is next.
  for (std::uint32_t place = run.end; place-- > run.first;) {
    const TaskIndex dependent = dependents_[place];
    lookahead_.Saw(task, dependent);
    const TaskNode::Arrival arrival = nodes_[dependent].DependencyEnded(state);
    if (arrival != TaskNode::Arrival::kNotYet) Arrived(dependent, arrival);
  }
  if (some_have_lists_) TellLaterDependents(task, state);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_SETTLER_H_
