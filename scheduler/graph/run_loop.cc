#include "scheduler/graph/run_loop.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduler/graph/cell_attempt.h"
#include "scheduler/graph/slots.h"

namespace jackdaw {

void TaskCell::Invoke(Task* task, Verb verb) noexcept {
  auto& cell = *static_cast<TaskCell*>(task);
  JobImpl& job = *cell.kind().job;
  WorkerContext* worker = job.core().CurrentWorker();
  if (verb == Verb::kDrop || worker == nullptr) {
    job.Cancel(absl::CancelledError("the pool was shut down"));
    ForgetSlot(cell);
  } else {
    std::vector<TaskIndex> scratch;
    // The worker's own vector keeps its memory; one that is busy belongs to a loop below this.
    scratch.swap(job.core().scratch(worker->index()));
    RunLoop(job, *worker, scratch).Run(cell.index());
    scratch.swap(job.core().scratch(worker->index()));
  }
  job.DropLeases(1);
}

RunLoop::RunLoop(JobImpl& job, WorkerContext& worker, std::vector<TaskIndex>& scratch)
    : job_(job),
      worker_(worker),
      ready_(scratch),
      settler_(job, scratch, worker.index()),
      not_stolen_(StartedBy{.worker = worker.index(), .stolen = false}.Pack()),
      started_by_(
          StartedBy{.worker = worker.index(), .stolen = worker.origin() == Origin::kStolen}.Pack()),
      beat_ns_(settler_.now_ns()) {}

void RunLoop::Run(TaskIndex first) {
  SwitchTo(settler_.node(first).kind());
  ready_.push_back(first);
  while (!ready_.empty()) {
    const TaskIndex task = ready_.back();
    ready_.pop_back();
    TaskNode& node = settler_.node(task);
    if (node.kind() != kind_place_) SwitchTo(node.kind());
    if (kind_->instant) {
      RunInstant(task, node);
      // What the feeder dealt to the deque is older, or of higher priority, and comes first.
      if (ready_.empty() && !leaving_ && worker_.Depth() == 0) {
        job_.core().feeder().TakeMore(job_, kRefill, ready_);
      }
    } else {
      RunOne(task, node);
    }
    if (leaving_) HandBack();
  }
  Beat();
  worker_.CountInline(runs_ - 1);
}

void RunLoop::SwitchTo(std::uint32_t kind) {
  if (instants_ > 0) Beat();
  kind_place_ = kind;
  kind_ = &job_.kind(kind);
}

void RunLoop::RunInstant(TaskIndex task, TaskNode& node) {
  if (++runs_ % kBeat == 0) Beat();
  if (!node.Start()) return;
  Stamped(task);
  CellAttempt attempt(job_, task, node);
  std::optional<Outcome> outcome = kind_->action->Start(attempt);
  if (outcome.has_value() && outcome->status.ok() && outcome->log.empty()) {
    ++instants_;
    // It started and ended at the same reading of the clock.
    if (!outcome->output.empty()) job_.cell(task).SetOutcome(std::move(outcome->output));
    node.End(TaskState::kSucceeded);
    settler_.Ended(task, TaskState::kQueued, TaskState::kSucceeded);
    return;
  }
  settler_.delta().Changed(task, TaskState::kQueued, TaskState::kRunning);
  End(task, attempt, std::move(outcome));
}

void RunLoop::RunOne(TaskIndex task, TaskNode& node) {
  Share();
  if (++turns_ > kLongestTurn && worker_.Depth() > 0) {
    // Others have waited long enough: this one goes behind them. In the deque it would be the
    // newest, and so the next.
    ready_.push_back(task);
    HandBack();
    return;
  }
  ++runs_;
  if (!StartInSlot(job_.cell(task))) return;
  settler_.Tick();
  Stamped(task);
  settler_.delta().Changed(task, TaskState::kQueued, TaskState::kRunning);
  job_.StopWatching(task);
  job_.WatchAttemptTime(task);
  settler_.Flush();
  CellAttempt attempt(job_, task, node);
  std::optional<Outcome> outcome = kind_->action->Start(attempt);
  settler_.Tick();
  End(task, attempt, std::move(outcome));
  settler_.Flush();
  // What became ready by it takes its turn among the others.
  if (job_.mixes_priorities() || job_.core().feeder().OthersWait(job_)) Share();
}

void RunLoop::End(TaskIndex task, const CellAttempt& attempt, std::optional<Outcome> outcome) {
  if (!outcome.has_value()) {
    if (attempt.detached()) return;  // It goes on elsewhere.
    outcome = Outcome{absl::InternalError("the action neither answered nor detached"), {}, {}};
  }
  if (!attempt.exclusive() && !settler_.node(task).Claim(attempt.number())) return;  // Given up.
  settler_.EndAttempt(task, std::move(*outcome));
}

void RunLoop::Stamped(TaskIndex task) {
  settler_.times(task).Started(settler_.now_stamp(), started_by_);
  started_by_ = not_stolen_;
  job_.MarkStarted(settler_.now_ns());
}

void RunLoop::Beat() {
  settler_.Tick();
  const std::int64_t spent_ns = settler_.now_ns() - beat_ns_;
  beat_ns_ = settler_.now_ns();
  const std::int64_t each_ns = instants_ > 0 ? spent_ns / instants_ : 0;
  if (instants_ > 0) {
    ActionStats& stats = *kind_->action->stats();
    stats.RecordAttempts(worker_.index(), /*queue_ns=*/0, each_ns, instants_);
    stats.RecordEnd(worker_.index(), TaskState::kSucceeded, instants_);
    instants_ = 0;
  }
  settler_.Flush();
  if (job_.core().feeder().OthersWait(job_) || worker_.ShouldYield()) {
    leaving_ = true;
    settler_.QueueReady();
  } else if (static_cast<std::int64_t>(ready_.size()) * each_ns > kWorthSharingNs) {
    ShareHalf();
  }
}

void RunLoop::ShareHalf() {
  const PoolStats pool = job_.core().pool().stats();
  if (pool.parked + pool.searching == 0) return;
  const std::size_t half = ready_.size() / 2;
  job_.core().feeder().Push(job_, absl::MakeConstSpan(ready_.data(), half));
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(half));
}

void RunLoop::HandBack() {
  settler_.Flush();
  settler_.QueueReady();
}

void RunLoop::Share() {
  if (ready_.empty()) return;
  settler_.Flush();
  const auto room = static_cast<std::int64_t>(kWindow) - worker_.Depth();
  if (room <= 0 || job_.mixes_priorities() || job_.core().feeder().OthersWait(job_)) {
    settler_.QueueReady();
    return;
  }
  // The newest go to the deque, in the order in which they became ready.
  const std::size_t local = std::min(ready_.size(), static_cast<std::size_t>(room));
  const std::size_t queued = ready_.size() - local;
  job_.core().feeder().Push(job_, absl::MakeConstSpan(ready_.data(), queued));
  job_.AddLeases(static_cast<std::int64_t>(local));
  for (std::size_t i = queued; i < ready_.size(); ++i) worker_.Push(&job_.cell(ready_[i]));
  ready_.clear();
}

}  // namespace jackdaw
