#include "server/job_events.h"

#include <utility>

namespace jackdaw {

JobEvents::JobEvents(JobEntry entry, std::string runner, Tasks tasks, std::int64_t max_output_bytes,
                     std::uint64_t revision)
    : entry_(std::move(entry)),
      runner_(std::move(runner)),
      tasks_(tasks),
      max_output_bytes_(max_output_bytes),
      revision_(revision) {}

void JobEvents::BeginRound() {
  // The job first: if it is terminal then, no task changes any more and the changes read
  // after it are complete.
  snapshot_ = entry_.job->Snapshot();
  changes_ = entry_.job->ChangesSince(revision_);
  next_ = 0;
  count_ = 0;
  if (tasks_ != Tasks::kNone) {
    count_ = changes_.resync ? static_cast<std::size_t>(entry_.job->task_count())
                             : changes_.tasks.size();
  }
  first_of_round_ = true;
  pending_ = !told_anything_ || count_ > 0 || snapshot_.revision != told_job_revision_;
}

bool JobEvents::Next(v1::JobEvent* event) {
  if (!pending_) return false;
  event->Clear();
  if (first_of_round_) {
    ToProto(entry_, snapshot_, event->mutable_job());
    event->set_resync(changes_.resync);
    told_job_revision_ = snapshot_.revision;
    first_of_round_ = false;
  }
  FillTasks(event);
  told_anything_ = true;
  pending_ = next_ < count_;
  event->set_more_follows(pending_);
  if (pending_) return true;
  revision_ = changes_.revision;
  event->set_revision(static_cast<std::int64_t>(revision_));
  finished_ = IsTerminal(snapshot_.state);
  return true;
}

void JobEvents::FillTasks(v1::JobEvent* event) {
  if (tasks_ == Tasks::kStates) {
    for (std::uint32_t n = 0; next_ < count_ && n < kStatesPerEvent; ++n, ++next_) {
      const TaskIndex index = TaskAt(next_);
      event->add_task_indices(static_cast<std::int32_t>(index));
      event->add_task_states(
          static_cast<v1::Task::State>(StateNumber(entry_.job->task_state(index))));
    }
    return;
  }
  std::int64_t bytes = 0;
  for (std::uint32_t n = 0; next_ < count_ && n < kTasksPerEvent && bytes < kOutputBytesPerEvent;
       ++n, ++next_) {
    v1::Task* task = event->add_tasks();
    ToProto(entry_, entry_.job->Task(TaskAt(next_)), runner_, {true, max_output_bytes_}, task);
    bytes += static_cast<std::int64_t>(task->output().size());
  }
}

TaskIndex JobEvents::TaskAt(std::size_t position) const {
  return changes_.resync ? static_cast<TaskIndex>(position) : changes_.tasks[position];
}

}  // namespace jackdaw
