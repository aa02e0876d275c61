#include "scheduler/graph/settler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/graph/slots.h"

namespace jackdaw {
namespace {

// What became of an attempt, from what its action says and what was asked of it.
absl::Status Verdict(const TaskNode& node, const TaskPolicy& policy, const absl::Status& status) {
  if (status.ok() || !node.timed_out()) return status;
  return absl::DeadlineExceededError(absl::StrCat("attempt ", node.attempt(),
                                                  " exceeded its timeout of ",
                                                  absl::FormatDuration(policy.attempt_timeout)));
}

}  // namespace

Settler::Settler(JobImpl& job, std::vector<TaskIndex>& ready, int worker)
    : job_(job),
      ready_(ready),
      worker_(worker),
      some_have_lists_(SomeMayHaveLists()),
      delta_(job.progress().recording()),
      count_(static_cast<TaskIndex>(job.task_count())),
      nodes_(job.nodes()),
      times_(job.times()),
      dependents_(job.edges().dependents()),
      lookahead_(job.nodes(), job.times(), job.edges().dependents()) {
  Tick();
}

void Settler::EndAttempt(TaskIndex task, Outcome outcome) {
  TaskNode& node = nodes_[task];
  const TaskKind& kind = job_.kind_of(task);
  const absl::Status status = Verdict(node, kind.policy, outcome.status);
  ActionStats& stats = *kind.action->stats();
  const TaskTimes::View times = times_[task].Read();
  stats.RecordAttempts(worker_, times.started_ns - times.queued_ns, now_ns_ - times.started_ns);
  times_[task].Ended(now_stamp_);
  job_.StopWatching(task);
  GiveBackSlot(job_.cell(task));
  const bool again = MayRetry(task, status);
  Record(task, status, std::move(outcome.log), /*final=*/!again);
  if (again && PutAside(task)) return;
  TaskState end = TaskState::kSucceeded;
  if (!status.ok()) end = node.cancel_requested() ? TaskState::kCancelled : TaskState::kFailed;
  if (end == TaskState::kFailed) {
    Fail(task, status);
  } else {
    if (end == TaskState::kSucceeded) job_.cell(task).SetOutcome(std::move(outcome.output));
    node.End(end);
  }
  stats.RecordEnd(worker_, end);
  Ended(task, TaskState::kRunning, end);
}

void Settler::EndQueued(TaskIndex task, absl::Status status) {
  job_.StopWatching(task);
  Fail(task, status);
  job_.kind_of(task).action->stats()->RecordEnd(worker_, TaskState::kFailed);
  Ended(task, TaskState::kQueued, TaskState::kFailed);
}

void Settler::Fail(TaskIndex task, const absl::Status& status) {
  delta_.Failed(job_.TaskId(task), status);
  job_.cell(task).SetOutcome(Bytes::Copy(status.message()));
  nodes_[task].End(TaskState::kFailed, status.code());
}

bool Settler::MayRetry(TaskIndex task, const absl::Status& status) const {
  const RetryPolicy& retry = job_.kind_of(task).policy.retry;
  const int attempt = job_.node(task).attempt();
  return attempt > 0 && attempt < retry.max_attempts && IsRetryable(retry, status.code()) &&
         !job_.progress().cancelling();
}

bool Settler::PutAside(TaskIndex task) {
  TaskNode& node = nodes_[task];
  const TaskKind& kind = job_.kind_of(task);
  const int attempt = node.attempt();
  if (!node.EndToBackoff()) return false;
  delta_.Changed(task, TaskState::kRunning, TaskState::kBackoff);
  kind.action->stats()->RecordRetry(worker_);
  job_.RetryAfter(task, Backoff(kind.policy.retry, attempt, job_.core().RandomFraction()));
  return true;
}

void Settler::Record(TaskIndex task, const absl::Status& status, Bytes log, bool final) {
  // The times and the final status of a task that succeeded at once say all there is.
  if (final && log.empty() && nodes_[task].attempt() <= 1) return;
  AttemptRecord record = job_.LatestAttempt(task);
  record.status = status;
  record.log = std::move(log);
  job_.records().Add(task, std::move(record));
}

bool Settler::SomeMayHaveLists() const {
  return !job_.progress().sealed() || job_.edges().has_lists();
}

void Settler::TellLaterDependents(TaskIndex task, TaskState state) {
  const Edges& edges = job_.edges();
  for (std::uint32_t link = Edges::Close(job_.cell(task)); link != 0;
       link = edges.link(link).next) {
    const TaskIndex dependent = edges.link(link).dependent;
    Arrived(dependent, nodes_[dependent].DependencyEnded(state));
  }
}

void Settler::TellDependentsOfSkipped() {
  while (!skipped_.empty()) {
    const TaskIndex task = skipped_.back();
    skipped_.pop_back();
    TellDependents(task, TaskState::kSkipped);
  }
}

void Settler::Skip(TaskIndex task) {
  job_.kind_of(task).action->stats()->RecordEnd(worker_, TaskState::kSkipped);
  delta_.Changed(task, TaskState::kWaiting, TaskState::kSkipped);
  skipped_.push_back(task);
}

void Settler::Release(TaskIndex task) {
  Arrived(task, nodes_[task].ReleaseHold());
  TellDependentsOfSkipped();
}

void Settler::QueueReady() {
  job_.core().feeder().Push(job_, ready_);
  ready_.clear();
}

void Settler::FlushEvenIfEmpty() {
  const JobProgress::Effect effect = job_.progress().Apply(delta_, now_ns_);
  delta_.Clear(job_.progress().recording());
  some_have_lists_ = SomeMayHaveLists();
  if (effect.done) {
    job_.Finish();
  } else if (effect.fail_fast && job_.fails_fast()) {
    job_.Cancel(absl::AbortedError("a task failed and the job's failure policy is fail_fast"));
  }
}

}  // namespace jackdaw
