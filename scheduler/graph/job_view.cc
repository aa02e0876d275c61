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

AttemptRecord JobImpl::LatestAttempt(TaskIndex task) const {
  const TaskTimes::View times = times_[task].Read();
  AttemptRecord record;
  record.number = nodes_[task].attempt();
  record.queued = TimeOf(times.queued_ns);
  record.started = TimeOf(times.started_ns);
  record.ended = TimeOf(times.ended_ns);
  record.worker = times.by.worker;
  record.stolen = times.by.stolen;
  return record;
}

absl::Status JobImpl::StatusOf(TaskIndex task, TaskState state) const {
  if (state == TaskState::kFailed) {
    return absl::Status(nodes_[task].code(), cells_[task].outcome().view());
  }
  if (state == TaskState::kCancelled) {
    const absl::Status reason = progress_.cancel_reason();
    return reason.ok() ? absl::CancelledError("the task was cancelled") : reason;
  }
  if (state != TaskState::kSkipped) return absl::OkStatus();
  const absl::string_view wanted =
      kind_of(task).policy.run_if == RunIf::kAnyFailed ? "none of its dependencies failed" : "";
  if (!wanted.empty()) return absl::FailedPreconditionError(wanted);
  const EdgeRun run = edges_.DependenciesOf(task);
  for (std::uint32_t place = run.first; place < run.end; ++place) {
    const TaskIndex dependency = edges_.dependency(place);
    const TaskState ended = nodes_[dependency].state();
    if (ended == TaskState::kSucceeded) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("dependency '", TaskId(dependency), "' is ", Name(ended)));
  }
  return absl::FailedPreconditionError("a dependency did not succeed");
}

TaskSnapshot JobImpl::Task(TaskIndex index) const {
  TaskSnapshot snapshot;
  snapshot.index = index;
  snapshot.id = TaskId(index);
  snapshot.state = nodes_[index].state();
  snapshot.status = StatusOf(index, snapshot.state);
  if (snapshot.state == TaskState::kSucceeded) snapshot.output = cells_[index].outcome();
  snapshot.attempts = nodes_[index].attempt();
  snapshot.attempt_records = records_.Of(index);
  // The latest attempt is in the records already if it left a log or was tried again.
  const std::vector<AttemptRecord>& kept = snapshot.attempt_records;
  const bool has_latest = !kept.empty() && kept.back().number == snapshot.attempts;
  if (!has_latest && (snapshot.attempts > 0 || snapshot.state == TaskState::kQueued)) {
    AttemptRecord latest = LatestAttempt(index);
    if (IsTerminal(snapshot.state)) {
      latest.status = snapshot.status;
    } else {
      latest.ended = absl::InfiniteFuture();
    }
    if (kept.size() == kMaxAttemptRecords) {
      snapshot.attempt_records.erase(snapshot.attempt_records.begin());
    }
    snapshot.attempt_records.push_back(std::move(latest));
  }
  const EdgeRun run = edges_.DependenciesOf(index);
  for (std::uint32_t place = run.first; place < run.end; ++place) {
    snapshot.dependencies.push_back(edges_.dependency(place));
  }
  snapshot.action = kind_of(index).action;
  return snapshot;
}

std::optional<TaskIndex> JobImpl::Find(absl::string_view task_id) const {
  return names_.Find(task_id, static_cast<std::size_t>(task_count()));
}

Job::WatcherId JobImpl::AddWatcher(std::function<void()> notify) {
  return progress_.AddWatcher(std::move(notify));
}

}  // namespace jackdaw
