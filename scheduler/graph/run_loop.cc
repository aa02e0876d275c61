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
    std::vector<TaskCell*> scratch;
    // The worker's own vector keeps its memory; one that is busy belongs to a loop below this.
    scratch.swap(job.core().scratch(worker->index()));
    RunLoop(job, *worker, scratch).Run(&cell);
    scratch.swap(job.core().scratch(worker->index()));
  }
  job.DropLeases(1);
}

namespace {

// The upper bits of a stamp that say who started an attempt.
std::uint64_t Beside(StartedBy by) { return Stamp::Pack(0, by.Pack()); }

}  // namespace

RunLoop::RunLoop(JobImpl& job, WorkerContext& worker, std::vector<TaskCell*>& scratch)
    : job_(job),
      worker_(worker),
      ready_(scratch),
      settler_(job, scratch, worker.index()),
      not_stolen_(Beside({.worker = worker.index(), .stolen = false})),
      started_by_(Beside({.worker = worker.index(), .stolen = worker.origin() == Origin::kStolen})),
      beat_ns_(settler_.now_ns()) {}

void RunLoop::Run(TaskCell* first) {
  ready_.push_back(first);
  while (!ready_.empty()) {
    TaskCell& cell = *ready_.back();
    ready_.pop_back();
    if (cell.kind().instant) {
      RunInstant(cell);
      // What the feeder dealt to the deque is older, or of higher priority, and comes first.
      if (ready_.empty() && !leaving_ && worker_.Depth() == 0) {
        job_.core().feeder().TakeMore(job_, kRefill, ready_);
      }
    } else {
      RunOne(cell);
    }
    if (leaving_) HandBack();
  }
  Beat();
  worker_.CountInline(runs_ - 1);
}

void RunLoop::RunInstant(TaskCell& cell) {
  if (&cell.kind() != instant_kind_) {
    if (instants_ > 0) Beat();
    instant_kind_ = &cell.kind();
  }
  if (++runs_ % kBeat == 0) Beat();
  if (!cell.Start()) return;
  Stamped(cell);
  CellAttempt attempt(job_, cell);
  std::optional<Outcome> outcome = cell.kind().action->Start(attempt);
  if (outcome.has_value() && outcome->status.ok() && outcome->log.empty()) {
    ++instants_;
    job_.times(cell).ended.store(settler_.now_stamp(), std::memory_order_relaxed);
    cell.EndSucceeded(std::move(outcome->output));
    settler_.Ended(cell, TaskState::kQueued, TaskState::kSucceeded);
    return;
  }
  settler_.delta().Changed(cell.index(), TaskState::kQueued, TaskState::kRunning);
  End(cell, attempt, std::move(outcome));
}

void RunLoop::RunOne(TaskCell& cell) {
  Share();
  if (++turns_ > kLongestTurn && worker_.Depth() > 0) {
    // Others have waited long enough: this one goes behind them. In the deque it would be the
    // newest, and so the next.
    ready_.push_back(&cell);
    HandBack();
    return;
  }
  ++runs_;
  if (!StartInSlot(cell)) return;
  settler_.Tick();
  Stamped(cell);
  settler_.delta().Changed(cell.index(), TaskState::kQueued, TaskState::kRunning);
  job_.StopWatching(cell);
  if (cell.kind().policy.attempt_timeout > absl::ZeroDuration()) job_.WatchAttemptTime(cell);
  settler_.Flush();
  CellAttempt attempt(job_, cell);
  std::optional<Outcome> outcome = cell.kind().action->Start(attempt);
  settler_.Tick();
  End(cell, attempt, std::move(outcome));
  settler_.Flush();
  // What became ready by it takes its turn among the others.
  if (job_.mixes_priorities() || job_.core().feeder().OthersWait(job_)) Share();
}

void RunLoop::End(TaskCell& cell, const CellAttempt& attempt, std::optional<Outcome> outcome) {
  if (!outcome.has_value()) {
    if (attempt.detached()) return;  // It goes on elsewhere.
    outcome = Outcome{absl::InternalError("the action neither answered nor detached"), {}, {}};
  }
  if (!attempt.exclusive() && !cell.Claim(attempt.number())) return;  // It was given up.
  settler_.EndAttempt(cell, std::move(*outcome));
}

void RunLoop::Stamped(TaskCell& cell) {
  job_.times(cell).started.store(settler_.now_stamp() | started_by_, std::memory_order_relaxed);
  started_by_ = not_stolen_;
  job_.MarkStarted(settler_.now_ns());
}

void RunLoop::Beat() {
  settler_.Tick();
  const std::int64_t spent_ns = settler_.now_ns() - beat_ns_;
  beat_ns_ = settler_.now_ns();
  const std::int64_t each_ns = instants_ > 0 ? spent_ns / instants_ : 0;
  if (instants_ > 0) {
    ActionStats& stats = *instant_kind_->action->stats();
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
  for (std::size_t i = queued; i < ready_.size(); ++i) worker_.Push(ready_[i]);
  ready_.clear();
}

}  // namespace jackdaw
