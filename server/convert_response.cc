// The way out: what the graph knows of jobs and tasks becomes messages.

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/server_service.pb.h"
#include "server/convert.h"
#include "server/errors.h"
#include "server/resource_names.h"

namespace jackdaw {
namespace {

void SetTime(absl::Time time, auto mutable_field) {
  if (time != absl::InfiniteFuture()) ToProto(time, mutable_field());
}

void FillCounts(const std::array<std::int64_t, kTaskStateCount>& tasks, v1::TaskCounts* proto) {
  const auto in = [&](TaskState state) { return tasks[static_cast<std::size_t>(state)]; };
  proto->set_waiting(in(TaskState::kWaiting));
  proto->set_queued(in(TaskState::kQueued));
  proto->set_running(in(TaskState::kRunning));
  proto->set_waiting_for_children(in(TaskState::kWaitingForChildren));
  proto->set_backoff(in(TaskState::kBackoff));
  proto->set_succeeded(in(TaskState::kSucceeded));
  proto->set_failed(in(TaskState::kFailed));
  proto->set_cancelled(in(TaskState::kCancelled));
  proto->set_skipped(in(TaskState::kSkipped));
}

void FillAttempt(const AttemptRecord& record, const std::string& runner, v1::Attempt* proto) {
  proto->set_number(record.number);
  SetTime(record.queued, [&] { return proto->mutable_queue_time(); });
  SetTime(record.started, [&] { return proto->mutable_start_time(); });
  SetTime(record.ended, [&] { return proto->mutable_end_time(); });
  if (record.worker >= 0) proto->set_runner(runner);
  proto->set_worker(record.worker);
  proto->set_stolen(record.stolen);
  if (!record.status.ok()) ToProto(record.status, proto->mutable_error());
  proto->set_log_bytes(static_cast<std::int64_t>(record.log.size()));
}

}  // namespace

int StateNumber(JobState state) { return static_cast<int>(state) + v1::Job::STATE_OPEN; }
int StateNumber(TaskState state) { return static_cast<int>(state) + v1::Task::STATE_WAITING; }

// The numbers above count on the same order on both sides.
static_assert(static_cast<int>(JobState::kOpen) + v1::Job::STATE_OPEN == v1::Job::STATE_OPEN);
static_assert(static_cast<int>(JobState::kRunning) + 1 == v1::Job::STATE_RUNNING);
static_assert(static_cast<int>(JobState::kCancelling) + 1 == v1::Job::STATE_CANCELLING);
static_assert(static_cast<int>(JobState::kCancelled) + 1 == v1::Job::STATE_CANCELLED);
static_assert(static_cast<int>(TaskState::kWaiting) + 1 == v1::Task::STATE_WAITING);
static_assert(static_cast<int>(TaskState::kWaitingForChildren) + 1 ==
              v1::Task::STATE_WAITING_FOR_CHILDREN);
static_assert(static_cast<int>(TaskState::kBackoff) + 1 == v1::Task::STATE_BACKOFF);
static_assert(static_cast<int>(TaskState::kSucceeded) + 1 == v1::Task::STATE_SUCCEEDED);
static_assert(static_cast<int>(TaskState::kSkipped) + 1 == v1::Task::STATE_SKIPPED);

void ToProto(absl::Time time, google::protobuf::Timestamp* proto) {
  const std::int64_t seconds = absl::ToUnixSeconds(time);
  proto->set_seconds(seconds);
  proto->set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

void ToProto(absl::Duration duration, google::protobuf::Duration* proto) {
  absl::Duration rest;
  proto->set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  proto->set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
}

void ToProto(const JobEntry& entry, const JobSnapshot& snapshot, v1::Job* proto) {
  proto->ParseFromString(entry.spec->job);
  proto->set_name(JobName(entry.job->id()));
  proto->set_state(static_cast<v1::Job::State>(StateNumber(snapshot.state)));
  FillCounts(snapshot.tasks, proto->mutable_task_counts());
  proto->mutable_task_counts()->set_total(snapshot.task_count);
  SetTime(snapshot.created, [&] { return proto->mutable_create_time(); });
  SetTime(snapshot.started, [&] { return proto->mutable_start_time(); });
  SetTime(snapshot.ended, [&] { return proto->mutable_end_time(); });
  if (!snapshot.status.ok()) ToProto(snapshot.status, proto->mutable_error());
  proto->set_revision(static_cast<std::int64_t>(snapshot.revision));
}

void ToProto(const JobEntry& entry, const TaskSnapshot& snapshot, const std::string& runner,
             TaskDetail detail, v1::Task* proto) {
  const absl::string_view kind = entry.spec->KindOf(snapshot.index);
  proto->ParseFromArray(kind.data(), static_cast<int>(kind.size()));
  const auto labels = entry.spec->labels.find(snapshot.index);
  if (labels != entry.spec->labels.end()) proto->MergeFromString(labels->second);
  proto->set_name(TaskName(entry.job->id(), snapshot.id));
  if (!IsDecimal(snapshot.id)) proto->set_task_id(snapshot.id);
  proto->set_index(static_cast<std::int32_t>(snapshot.index));
  proto->set_state(static_cast<v1::Task::State>(StateNumber(snapshot.state)));
  if (!snapshot.status.ok()) ToProto(snapshot.status, proto->mutable_error());
  proto->set_output_bytes(static_cast<std::int64_t>(snapshot.output.size()));
  proto->set_attempt_count(snapshot.attempts);
  if (!detail.full) return;
  const absl::string_view output = snapshot.output.view().substr(
      0, static_cast<std::size_t>(std::max<std::int64_t>(0, detail.max_output_bytes)));
  proto->set_output(output.data(), output.size());
  for (const TaskIndex index : snapshot.dependencies) {
    proto->add_after_indices(static_cast<std::int32_t>(index));
  }
  for (const AttemptRecord& record : snapshot.attempt_records) {
    FillAttempt(record, runner, proto->add_attempts());
  }
}

void ToProto(const ServerLimits& limits, v1::ServerLimits* proto) {
  proto->set_max_active_jobs(limits.max_active_jobs);
  proto->set_max_done_jobs(limits.max_done_jobs);
  proto->set_max_active_tasks(limits.max_active_tasks);
  proto->set_max_tasks_per_job(limits.max_tasks_per_job);
  proto->set_max_dependencies_per_task(limits.max_dependencies_per_task);
  proto->set_max_message_bytes(limits.max_message_bytes);
  proto->set_max_payload_bytes(limits.max_payload_bytes);
  ToProto(limits.request_id_retention, proto->mutable_request_id_retention());
  proto->set_max_request_ids(limits.max_request_ids);
  proto->set_max_done_tasks(limits.max_done_tasks);
}

}  // namespace jackdaw
