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
  std::vector<TaskIndex> none;
  Settler settler(*this, none, ActionStats::kNoWorker);
  const auto count = static_cast<TaskIndex>(task_count());
  for (TaskIndex task = 0; task < count; ++task) CancelTask(task, settler);
  settler.FlushEvenIfEmpty();
}

void JobImpl::CancelTask(TaskIndex task, Settler& settler) {
  TaskNode& node = settler.node(task);
  while (true) {
    const TaskState state = node.state();
    if (IsTerminal(state)) return;
    if (state == TaskState::kRunning) {
      if (node.RequestStop() == TaskState::kRunning) return;
      continue;  // It ended or went to BACKOFF meanwhile.
    }
    if (!node.Move(state, TaskState::kCancelled)) continue;
    kind_of(task).action->stats()->RecordEnd(ActionStats::kNoWorker, TaskState::kCancelled);
    settler.delta().Changed(task, state, TaskState::kCancelled);
    if (state == TaskState::kBackoff || kind_of(task).policy.queue_timeout > absl::ZeroDuration()) {
      running_.StopTimer(task, core_->timers());
    }
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

// A timer of a task holds no lease: the job may be gone when it is due.
void JobImpl::SetTimer(TaskIndex task, absl::Duration wait, std::function<void(JobImpl&)> body) {
  running_.SetTimer(task, core_->timers(), wait, [weak = weak_from_this(), body = std::move(body)] {
    if (const auto job = weak.lock()) body(*job);
  });
  // A cancel ends the task first and then stops its timer: it found this one, or is seen here.
  if (IsTerminal(nodes_[task].state())) running_.StopTimer(task, core_->timers());
}

void JobImpl::WatchQueueTime(TaskIndex task) {
  const absl::Duration timeout = kind_of(task).policy.queue_timeout;
  if (timeout == absl::ZeroDuration()) return;
  const int attempt = nodes_[task].attempt();
  SetTimer(task, timeout, [task, attempt](JobImpl& job) { job.OnQueueTimeout(task, attempt); });
}

void JobImpl::WatchAttemptTime(TaskIndex task) {
  const absl::Duration timeout = kind_of(task).policy.attempt_timeout;
  if (timeout == absl::ZeroDuration()) return;
  const int attempt = nodes_[task].attempt();
  SetTimer(task, timeout, [task, attempt](JobImpl& job) { job.OnAttemptTimeout(task, attempt); });
}

void JobImpl::StopWatching(TaskIndex task) {
  const TaskPolicy& policy = kind_of(task).policy;
  if (policy.queue_timeout == absl::ZeroDuration() &&
      policy.attempt_timeout == absl::ZeroDuration()) {
    return;
  }
  running_.StopTimer(task, core_->timers());
}

void JobImpl::OnQueueTimeout(TaskIndex task, int attempt) {
  if (!nodes_[task].ClaimQueued(attempt)) return;
  SettleElsewhere([this, task](Settler& settler) {
    settler.EndQueued(task, absl::DeadlineExceededError(absl::StrCat(
                                "the task waited in the queue for longer than ",
                                absl::FormatDuration(kind_of(task).policy.queue_timeout))));
  });
}

void JobImpl::OnAttemptTimeout(TaskIndex task, int attempt) {
  TaskNode& node = nodes_[task];
  if (!node.RequestTimeout(attempt)) return;
  const absl::Status reason = absl::DeadlineExceededError("attempt timed out");
  // An attempt that goes on elsewhere is told, and answers soon. One that holds a worker
  // cannot be ended; it is given up here and its answer will be refused.
  if (running_.Stop(task, attempt, reason)) return;
  if (!node.Claim(attempt)) return;
  SettleElsewhere([&](Settler& settler) {
    settler.EndAttempt(task, Outcome{reason, Bytes(), Bytes()});
  });
}

void JobImpl::SettleElsewhere(const std::function<void(Settler&)>& settle) {
  AddLeases(1);
  {
    std::vector<TaskIndex> ready;
    Settler settler(*this, ready, ActionStats::kNoWorker);
    settle(settler);
    settler.Flush();
    settler.QueueReady();
  }
  DropLeases(1);
}

void JobImpl::RetryAfter(TaskIndex task, absl::Duration wait) {
  SetTimer(task, wait, [task](JobImpl& job) { job.OnRetry(task); });
}

void JobImpl::OnRetry(TaskIndex task) {
  // As soon as the task is QUEUED a cancel may end the job, before the task is in the queue.
  if (!TryAddLease()) return;
  running_.StopTimer(task, core_->timers());  // This one.
  if (nodes_[task].Move(TaskState::kBackoff, TaskState::kQueued)) {
    SettleElsewhere([task](Settler& settler) { settler.Ready(task, TaskState::kBackoff); });
  }
  DropLeases(1);
}

}  // namespace jackdaw
