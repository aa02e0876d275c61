// JobImpl: sealing, cancelling and timers.

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/graph/job_impl.h"
#include "scheduler/graph/settler.h"

namespace jackdaw {
namespace {

// An action is told one of two codes, whatever the job's reason.
absl::Status StopReason(const absl::Status& reason) {
  if (absl::IsCancelled(reason) || absl::IsDeadlineExceeded(reason)) return reason;
  return absl::CancelledError(reason.message());
}

}  // namespace

void JobImpl::Close() {
  JobProgress::Effect effect;
  {
    absl::MutexLock lock(&add_mutex_);
    effect = progress_.Seal(now_ns());
  }
  if (effect.done) Finish();
}

void JobImpl::Cancel(absl::Status reason) {
  {
    absl::MutexLock lock(&add_mutex_);
    if (!progress_.BeginCancel(reason)) return;
  }
  CancelTasks();
  running_.StopAll(StopReason(reason));
}

void JobImpl::CancelTasks() {
  // Within one delta, so that the job ends once, and after its last task.
  std::vector<TaskCell*> none;
  Settler settler(*this, none, ActionStats::kNoWorker);
  const auto count = static_cast<TaskIndex>(task_count());
  for (TaskIndex index = 0; index < count; ++index) CancelTask(cells_[index], settler);
  settler.FlushEvenIfEmpty();
}

void JobImpl::CancelTask(TaskCell& cell, Settler& settler) {
  while (true) {
    const TaskState state = cell.state();
    if (IsTerminal(state)) return;
    if (state == TaskState::kRunning) {
      if (cell.RequestStop() == TaskState::kRunning) return;
      continue;  // It ended or went to BACKOFF meanwhile.
    }
    if (!cell.Move(state, TaskState::kCancelled)) continue;
    times(cell).ended.store(Stamp::Pack(settler.now_ns()), std::memory_order_relaxed);
    cell.kind().action->stats()->RecordEnd(ActionStats::kNoWorker, TaskState::kCancelled);
    settler.delta().Changed(cell.index(), state, TaskState::kCancelled);
    return;
  }
}

void JobImpl::ArmJobTimeout() {
  if (options_.timeout <= absl::ZeroDuration()) return;
  const std::weak_ptr<JobImpl> weak = weak_from_this();
  const absl::Duration timeout = options_.timeout;
  const TimerQueue::TimerId timer = core_->timers().After(timeout, [weak, timeout] {
    const std::shared_ptr<JobImpl> job = weak.lock();
    if (job == nullptr) return;
    job->Cancel(absl::DeadlineExceededError(
        absl::StrCat("the job exceeded its timeout of ", absl::FormatDuration(timeout))));
  });
  const std::shared_ptr<EngineCore> core = core_;
  OnDone([core, timer] { core->timers().Cancel(timer); });
}

void JobImpl::WatchQueueTime(TaskCell& cell) {
  const std::weak_ptr<JobImpl> weak = weak_from_this();
  const TaskIndex index = cell.index();
  const int attempt = cell.attempt();
  const auto timer =
      core_->timers().After(cell.kind().policy.queue_timeout, [weak, index, attempt] {
        if (const auto job = weak.lock()) job->OnQueueTimeout(index, attempt);
      });
  if (const auto old = running_.SetTimer(index, timer)) core_->timers().Cancel(*old);
}

void JobImpl::WatchAttemptTime(TaskCell& cell) {
  const std::weak_ptr<JobImpl> weak = weak_from_this();
  const TaskIndex index = cell.index();
  const int attempt = cell.attempt();
  const auto timer =
      core_->timers().After(cell.kind().policy.attempt_timeout, [weak, index, attempt] {
        if (const auto job = weak.lock()) job->OnAttemptTimeout(index, attempt);
      });
  if (const auto old = running_.SetTimer(index, timer)) core_->timers().Cancel(*old);
}

void JobImpl::StopWatching(TaskCell& cell) {
  const TaskPolicy& policy = cell.kind().policy;
  if (policy.queue_timeout == absl::ZeroDuration() &&
      policy.attempt_timeout == absl::ZeroDuration()) {
    return;
  }
  if (const auto timer = running_.TakeTimer(cell.index())) core_->timers().Cancel(*timer);
}

void JobImpl::OnQueueTimeout(TaskIndex index, int attempt) {
  TaskCell& cell = cells_[index];
  if (!cell.ClaimQueued(attempt)) return;
  SettleElsewhere([&cell](Settler& settler) {
    settler.EndQueued(cell, absl::DeadlineExceededError(absl::StrCat(
                                "the task waited in the queue for longer than ",
                                absl::FormatDuration(cell.kind().policy.queue_timeout))));
  });
}

void JobImpl::OnAttemptTimeout(TaskIndex index, int attempt) {
  TaskCell& cell = cells_[index];
  if (!cell.RequestTimeout(attempt)) return;
  const absl::Status reason = absl::DeadlineExceededError("attempt timed out");
  // An attempt that goes on elsewhere is told, and answers soon. One that holds a worker
  // cannot be ended; it is given up here and its answer will be refused.
  if (running_.Stop(index, attempt, reason)) return;
  if (!cell.Claim(attempt)) return;
  SettleElsewhere([&](Settler& settler) {
    settler.EndAttempt(cell, Outcome{reason, Bytes(), Bytes()});
  });
}

void JobImpl::SettleElsewhere(const std::function<void(Settler&)>& settle) {
  AddLeases(1);
  {
    std::vector<TaskCell*> ready;
    Settler settler(*this, ready, ActionStats::kNoWorker);
    settle(settler);
    settler.Flush();
    settler.QueueReady();
  }
  DropLeases(1);
}

void JobImpl::RetryAfter(TaskCell& cell, absl::Duration wait) {
  const std::weak_ptr<JobImpl> weak = weak_from_this();
  const TaskIndex index = cell.index();
  core_->timers().After(wait, [weak, index] {
    if (const auto job = weak.lock()) job->OnRetry(index);
  });
}

void JobImpl::OnRetry(TaskIndex index) {
  // As soon as the task is QUEUED a cancel may end the job, before the task is in the queue.
  if (!TryAddLease()) return;
  TaskCell& cell = cells_[index];
  if (cell.Move(TaskState::kBackoff, TaskState::kQueued)) {
    SettleElsewhere([&cell](Settler& settler) { settler.Ready(cell, TaskState::kBackoff); });
  }
  DropLeases(1);
}

}  // namespace jackdaw
