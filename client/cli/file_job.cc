#include "client/cli/file_job.h"

#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

v1::Priority ToProto(jobfile::Priority priority) {
  switch (priority) {
    case jobfile::Priority::kLow:
      return v1::PRIORITY_LOW;
    case jobfile::Priority::kNormal:
      return v1::PRIORITY_NORMAL;
    case jobfile::Priority::kHigh:
      return v1::PRIORITY_HIGH;
  }
  return v1::PRIORITY_UNSPECIFIED;
}

v1::RunIf ToProto(jobfile::RunIf run_if) {
  switch (run_if) {
    case jobfile::RunIf::kAllSucceeded:
      return v1::RUN_IF_ALL_SUCCEEDED;
    case jobfile::RunIf::kAllDone:
      return v1::RUN_IF_ALL_DONE;
    case jobfile::RunIf::kAnyFailed:
      return v1::RUN_IF_ANY_FAILED;
  }
  return v1::RUN_IF_UNSPECIFIED;
}

v1::CommandAction::Stdin ToProto(jobfile::Stdin stdin_from) {
  switch (stdin_from) {
    case jobfile::Stdin::kEmpty:
      return v1::CommandAction::STDIN_EMPTY;
    case jobfile::Stdin::kPayload:
      return v1::CommandAction::STDIN_PAYLOAD;
    case jobfile::Stdin::kInputs:
      return v1::CommandAction::STDIN_INPUTS;
  }
  return v1::CommandAction::STDIN_UNSPECIFIED;
}

v1::RetryPolicy ToProto(const jobfile::Retry& retry) {
  v1::RetryPolicy policy;
  policy.set_max_attempts(retry.attempts.value_or(1));
  if (retry.initial_backoff) {
    *policy.mutable_initial_backoff() = client::ToProto(*retry.initial_backoff);
  }
  if (retry.max_backoff) *policy.mutable_max_backoff() = client::ToProto(*retry.max_backoff);
  if (retry.multiplier) policy.set_multiplier(*retry.multiplier);
  if (retry.jitter) policy.set_jitter(*retry.jitter);
  if (retry.codes) {
    for (const absl::StatusCode code : *retry.codes) {
      policy.add_codes(static_cast<google::rpc::Code>(code));
    }
  }
  return policy;
}

void SetAction(const jobfile::Task& task, v1::Task& proto) {
  if (task.command.empty()) {
    proto.mutable_function()->set_name(task.function);
    return;
  }
  v1::CommandAction& command = *proto.mutable_command();
  for (const std::string& argument : task.command) command.add_argv(argument);
  command.set_stdin(ToProto(task.stdin_from));
  for (const auto& [name, value] : task.surroundings.env) {
    (*command.mutable_environment())[name] = value;
  }
  command.set_working_directory(task.surroundings.workdir.value_or(""));
}

void SetPolicy(const jobfile::Policy& policy, v1::Task& proto) {
  if (policy.run_if) proto.set_run_if(ToProto(*policy.run_if));
  if (policy.priority) proto.set_priority(ToProto(*policy.priority));
  if (policy.timeout) *proto.mutable_attempt_timeout() = client::ToProto(*policy.timeout);
  if (policy.queue_timeout) *proto.mutable_queue_timeout() = client::ToProto(*policy.queue_timeout);
  if (policy.retry) *proto.mutable_retry_policy() = ToProto(*policy.retry);
  if (policy.runner) proto.set_runner(*policy.runner);
}

}  // namespace

v1::Job ToJob(const jobfile::JobFile& file) {
  v1::Job job;
  job.set_display_name(file.name);
  if (file.failure_policy) {
    job.set_failure_policy(*file.failure_policy == jobfile::FailurePolicy::kFailFast
                               ? v1::FAILURE_POLICY_FAIL_FAST
                               : v1::FAILURE_POLICY_CONTINUE);
  }
  if (file.priority) job.set_priority(ToProto(*file.priority));
  if (file.timeout) *job.mutable_timeout() = client::ToProto(*file.timeout);
  for (const auto& [key, value] : file.labels) (*job.mutable_labels())[key] = value;
  for (const jobfile::Task& task : file.tasks) {
    v1::Task& proto = *job.add_tasks();
    proto.set_task_id(task.id);
    proto.set_payload(task.payload);
    for (const std::string& id : task.after) proto.add_after(id);
    for (const auto& [key, value] : task.labels) (*proto.mutable_labels())[key] = value;
    SetAction(task, proto);
    SetPolicy(task.policy, proto);
  }
  return job;
}

std::vector<std::uint32_t> Sinks(const jobfile::JobFile& file) {
  std::vector<bool> waited_for(file.tasks.size(), false);
  for (const jobfile::Task& task : file.tasks) {
    for (const std::uint32_t dependency : task.dependencies) waited_for[dependency] = true;
  }
  std::vector<std::uint32_t> sinks;
  for (std::uint32_t i = 0; i < file.tasks.size(); ++i) {
    if (!waited_for[i]) sinks.push_back(i);
  }
  return sinks;
}

}  // namespace jackdaw::cli
