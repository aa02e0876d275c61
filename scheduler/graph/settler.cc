#include "scheduler/graph/settler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/graph/slots.h"

namespace jackdaw {
namespace {

// What became of an attempt, from what its action says and what was asked of it.
absl::Status Verdict(const TaskCell& cell, const absl::Status& status) {
  if (status.ok() || !cell.timed_out()) return status;
  return absl::DeadlineExceededError(
      absl::StrCat("attempt ", cell.attempt(), " exceeded its timeout of ",
                   absl::FormatDuration(cell.kind().policy.attempt_timeout)));
}

}  // namespace

Settler::Settler(JobImpl& job, std::vector<TaskCell*>& ready, int worker)
    : job_(job),
      ready_(ready),
      worker_(worker),
      sealed_(job.progress().sealed()),
      delta_(job.progress().recording()),
      count_(static_cast<TaskIndex>(job.task_count())),
      lookahead_(job.cells(), job.edges()) {
  Tick();
}

void Settler::EndAttempt(TaskCell& cell, Outcome outcome) {
  const absl::Status status = Verdict(cell, outcome.status);
  ActionStats& stats = *cell.kind().action->stats();
  const std::int64_t started =
      Stamp::Nanos(job_.times(cell).started.load(std::memory_order_relaxed));
  const std::int64_t queued = Stamp::Nanos(job_.times(cell).queued.load(std::memory_order_relaxed));
  stats.RecordAttempts(worker_, started - queued, now_ns_ - started);
  job_.times(cell).ended.store(now_stamp_, std::memory_order_relaxed);
  job_.StopWatching(cell);
  GiveBackSlot(cell);
  const bool again = MayRetry(cell, status);
  Record(cell, status, std::move(outcome.log), /*final=*/!again);
  if (again && PutAside(cell)) return;
  TaskState end = TaskState::kSucceeded;
  if (!status.ok()) {
    end = cell.cancel_requested() ? TaskState::kCancelled : TaskState::kFailed;
  }
  if (end == TaskState::kSucceeded) cell.EndSucceeded(std::move(outcome.output));
  if (end == TaskState::kCancelled) cell.EndCancelled();
  if (end == TaskState::kFailed) {
    delta_.Failed(job_.TaskId(cell.index()), status);
    cell.EndFailed(status);
  }
  stats.RecordEnd(worker_, end);
  Ended(cell, TaskState::kRunning, end);
}

void Settler::EndQueued(TaskCell& cell, absl::Status status) {
  job_.times(cell).ended.store(now_stamp_, std::memory_order_relaxed);
  job_.StopWatching(cell);
  delta_.Failed(job_.TaskId(cell.index()), status);
  cell.EndFailed(std::move(status));
  cell.kind().action->stats()->RecordEnd(worker_, TaskState::kFailed);
  Ended(cell, TaskState::kQueued, TaskState::kFailed);
}

bool Settler::MayRetry(const TaskCell& cell, const absl::Status& status) const {
  const RetryPolicy& retry = cell.kind().policy.retry;
  const int attempt = cell.attempt();
  return attempt > 0 && attempt < retry.max_attempts && IsRetryable(retry, status.code()) &&
         !job_.progress().cancelling();
}

bool Settler::PutAside(TaskCell& cell) {
  const int attempt = cell.attempt();
  if (!cell.EndToBackoff()) return false;
  delta_.Changed(cell.index(), TaskState::kRunning, TaskState::kBackoff);
  cell.kind().action->stats()->RecordRetry(worker_);
  job_.RetryAfter(cell, Backoff(cell.kind().policy.retry, attempt, job_.core().RandomFraction()));
  return true;
}

void Settler::Record(TaskCell& cell, const absl::Status& status, Bytes log, bool final) {
  // The stamps and the final status of a task that succeeded at once say all there is.
  if (final && log.empty() && cell.attempt() <= 1) return;
  AttemptRecord record = job_.LatestAttempt(cell);
  record.status = status;
  record.log = std::move(log);
  job_.records().Add(cell.index(), std::move(record));
}

void Settler::Ended(TaskCell& cell, TaskState from, TaskState to) {
  delta_.Changed(cell.index(), from, to);
  TellDependents(cell, to);
  TellDependentsOfSkipped();
}

void Settler::TellDependents(TaskCell& cell, TaskState state) {
  const Edges& edges = job_.edges();
  std::uint32_t link = Edges::Close(cell, sealed_);
  lookahead_.Step(cell.index(), count_);
  // Last to first, so that the first, whose neighbour in memory ran just now, is next.
  const std::uint32_t first = cell.first_dependent();
  const std::uint32_t count = cell.dependent_count();
  if (count > 0) lookahead_.Saw(cell.index(), edges.dependent(first + count - 1));
  for (std::uint32_t place = first + count; place-- > first;) {
    TellDependent(job_.cell(edges.dependent(place)), state);
  }
  while (link != 0) {
    TellDependent(job_.cell(edges.link(link).dependent), state);
    link = edges.link(link).next;
  }
}

void Settler::TellDependent(TaskCell& dependent, TaskState state) {
  const TaskCell::Arrival arrival = dependent.DependencyEnded(state);
  if (arrival != TaskCell::Arrival::kNotYet) Arrived(dependent, arrival);
}

void Settler::TellDependentsOfSkipped() {
  while (!skipped_.empty()) {
    TaskCell* cell = skipped_.back();
    skipped_.pop_back();
    TellDependents(*cell, TaskState::kSkipped);
  }
}

void Settler::Arrived(TaskCell& cell, TaskCell::Arrival arrival) {
  if (arrival == TaskCell::Arrival::kReady) Ready(cell, TaskState::kWaiting);
  if (arrival != TaskCell::Arrival::kSkipped) return;
  cell.kind().action->stats()->RecordEnd(worker_, TaskState::kSkipped);
  delta_.Changed(cell.index(), TaskState::kWaiting, TaskState::kSkipped);
  skipped_.push_back(&cell);
}

void Settler::Release(TaskCell& cell) {
  Arrived(cell, cell.ReleaseHold());
  TellDependentsOfSkipped();
}

void Settler::Ready(TaskCell& cell, TaskState from) {
  delta_.Changed(cell.index(), from, TaskState::kQueued);
  job_.times(cell).queued.store(now_stamp_, std::memory_order_relaxed);
  if (cell.kind().policy.queue_timeout > absl::ZeroDuration()) job_.WatchQueueTime(cell);
  ready_.push_back(&cell);
}

void Settler::QueueReady() {
  job_.core().feeder().Push(job_, ready_);
  ready_.clear();
}

void Settler::FlushEvenIfEmpty() {
  const JobProgress::Effect effect = job_.progress().Apply(delta_, now_ns_);
  delta_.Clear(job_.progress().recording());
  if (effect.done) {
    job_.Finish();
  } else if (effect.fail_fast && job_.fails_fast()) {
    job_.Cancel(absl::AbortedError("a task failed and the job's failure policy is fail_fast"));
  }
}

}  // namespace jackdaw
