// JobImpl: what it tells those who ask.

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/graph/job_impl.h"

namespace jackdaw {

absl::Time JobImpl::TimeOf(std::int64_t since_creation_ns) const {
  return since_creation_ns < 0 ? absl::InfiniteFuture()
                               : created_ + absl::Nanoseconds(since_creation_ns);
}

JobSnapshot JobImpl::Snapshot() const {
  const JobProgress::View view = progress_.Read();
  JobSnapshot snapshot;
  snapshot.state = view.state;
  snapshot.status = view.status;
  snapshot.tasks = view.tasks;
  for (const std::int64_t count : view.tasks) snapshot.task_count += count;
  snapshot.revision = view.revision;
  snapshot.created = created_;
  snapshot.started = TimeOf(view.started_ns);
  snapshot.ended = TimeOf(view.ended_ns);
  return snapshot;
}

AttemptRecord JobImpl::LatestAttempt(const TaskCell& cell) const {
  const auto time = [this](const std::atomic<std::uint64_t>& stamp) {
    const std::uint64_t packed = stamp.load(std::memory_order_relaxed);
    return Stamp::IsSet(packed) ? TimeOf(Stamp::Nanos(packed)) : absl::InfiniteFuture();
  };
  AttemptRecord record;
  record.number = cell.attempt();
  record.queued = time(times_[cell.index()].queued);
  record.started = time(times_[cell.index()].started);
  record.ended = time(times_[cell.index()].ended);
  const StartedBy by =
      StartedBy::Unpack(times_[cell.index()].started.load(std::memory_order_relaxed));
  record.worker = by.worker;
  record.stolen = by.stolen;
  return record;
}

absl::Status JobImpl::StatusOf(const TaskCell& cell, TaskState state) const {
  if (state == TaskState::kFailed) return cell.status();
  if (state == TaskState::kCancelled) {
    const absl::Status reason = progress_.cancel_reason();
    return reason.ok() ? absl::CancelledError("the task was cancelled") : reason;
  }
  if (state != TaskState::kSkipped) return absl::OkStatus();
  const absl::string_view wanted =
      cell.kind().policy.run_if == RunIf::kAnyFailed ? "none of its dependencies failed" : "";
  if (!wanted.empty()) return absl::FailedPreconditionError(wanted);
  for (std::uint32_t i = 0; i < cell.edge_count(); ++i) {
    const TaskIndex dependency = edges_.dependency(cell.first_edge() + i);
    const TaskState ended = cells_[dependency].state();
    if (ended == TaskState::kSucceeded) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("dependency '", TaskId(dependency), "' is ", Name(ended)));
  }
  return absl::FailedPreconditionError("a dependency did not succeed");
}

TaskSnapshot JobImpl::Task(TaskIndex index) const {
  const TaskCell& cell = cells_[index];
  TaskSnapshot snapshot;
  snapshot.index = index;
  snapshot.id = TaskId(index);
  snapshot.state = cell.state();
  snapshot.status = StatusOf(cell, snapshot.state);
  if (snapshot.state == TaskState::kSucceeded) snapshot.output = cell.output();
  snapshot.attempts = cell.attempt();
  snapshot.attempt_records = records_.Of(index);
  // The latest attempt is in the records already if it left a log or was tried again.
  const std::vector<AttemptRecord>& kept = snapshot.attempt_records;
  const bool has_latest = !kept.empty() && kept.back().number == snapshot.attempts;
  if (!has_latest && (snapshot.attempts > 0 || snapshot.state == TaskState::kQueued)) {
    AttemptRecord latest = LatestAttempt(cell);
    if (IsTerminal(snapshot.state)) {
      latest.status = snapshot.status;
    } else {
      latest.ended = absl::InfiniteFuture();  // The stamp is that of the attempt before.
    }
    if (kept.size() == kMaxAttemptRecords) {
      snapshot.attempt_records.erase(snapshot.attempt_records.begin());
    }
    snapshot.attempt_records.push_back(std::move(latest));
  }
  for (std::uint32_t i = 0; i < cell.edge_count(); ++i) {
    snapshot.dependencies.push_back(edges_.dependency(cell.first_edge() + i));
  }
  snapshot.action = cell.kind().action;
  return snapshot;
}

std::optional<TaskIndex> JobImpl::Find(absl::string_view task_id) const {
  return names_.Find(task_id, static_cast<std::size_t>(task_count()));
}

Job::WatcherId JobImpl::AddWatcher(std::function<void()> notify) {
  return progress_.AddWatcher(std::move(notify));
}

}  // namespace jackdaw
