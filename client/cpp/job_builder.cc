#include "client/cpp/job_builder.h"

#include <utility>

#include "client/cpp/convert.h"

namespace jackdaw::client {

struct JobBuilder::State {
  v1::Job job;
  std::int32_t array_tasks = 0;           // Of all arrays together.
  const v1::TaskArray* latest = nullptr;  // The array that may grow.
};

namespace {

std::string Text(absl::string_view text) { return std::string(text); }

// Until the job is complete nobody knows where the tasks of arrays begin: dependencies are
// kept as Ref::place_ and become indices here.
void ResolvePlaces(v1::Job& job) {
  const std::int32_t base = job.tasks_size();
  const auto resolve = [base](std::int32_t& place) { place = place < 0 ? ~place : place + base; };
  for (v1::Task& task : *job.mutable_tasks()) {
    for (std::int32_t& place : *task.mutable_after_indices()) resolve(place);
  }
  for (v1::TaskArray& array : *job.mutable_task_arrays()) {
    for (std::int32_t& place : *array.mutable_dependency_indices()) resolve(place);
    if (array.dependency_indices().empty()) array.clear_dependency_counts();
  }
  // The server refuses an array of no tasks; one that was never filled means nothing.
  auto& arrays = *job.mutable_task_arrays();
  for (int i = arrays.size() - 1; i >= 0; --i) {
    if (arrays[i].count() == 0) arrays.DeleteSubrange(i, 1);
  }
}

}  // namespace

JobBuilder::TaskHandle::operator Ref() const { return Ref(place_); }

JobBuilder::TaskHandle& JobBuilder::TaskHandle::After(Ref dependency) {
  task_->add_after_indices(dependency.place_);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::After(absl::Span<const Ref> dependencies) {
  for (const Ref dependency : dependencies) After(dependency);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::After(std::initializer_list<Ref> dependencies) {
  for (const Ref dependency : dependencies) After(dependency);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Id(absl::string_view id) {
  task_->set_task_id(Text(id));
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Payload(std::string payload) {
  task_->set_payload(std::move(payload));
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::RunIf(v1::RunIf run_if) {
  task_->set_run_if(run_if);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Priority(v1::Priority priority) {
  task_->set_priority(priority);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Retry(const JobBuilder::Retry& retry) {
  v1::RetryPolicy& policy = *task_->mutable_retry_policy();
  policy.Clear();
  policy.set_max_attempts(retry.attempts);
  if (retry.initial_backoff) *policy.mutable_initial_backoff() = ToProto(*retry.initial_backoff);
  if (retry.max_backoff) *policy.mutable_max_backoff() = ToProto(*retry.max_backoff);
  if (retry.multiplier) policy.set_multiplier(*retry.multiplier);
  if (retry.jitter) policy.set_jitter(*retry.jitter);
  for (const absl::StatusCode code : retry.codes) {
    policy.add_codes(static_cast<google::rpc::Code>(code));
  }
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Timeout(absl::Duration per_attempt) {
  *task_->mutable_attempt_timeout() = ToProto(per_attempt);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::QueueTimeout(absl::Duration longest_wait) {
  *task_->mutable_queue_timeout() = ToProto(longest_wait);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Label(absl::string_view key,
                                                      absl::string_view value) {
  (*task_->mutable_labels())[Text(key)] = Text(value);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Runner(absl::string_view name) {
  task_->set_runner(Text(name));
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Stdin(v1::CommandAction::Stdin from) {
  task_->mutable_command()->set_stdin(from);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::Environment(absl::string_view name,
                                                            absl::string_view value) {
  (*task_->mutable_command()->mutable_environment())[Text(name)] = Text(value);
  return *this;
}

JobBuilder::TaskHandle& JobBuilder::TaskHandle::WorkingDirectory(absl::string_view path) {
  task_->mutable_command()->set_working_directory(Text(path));
  return *this;
}

JobBuilder::TaskHandle JobBuilder::ArrayHandle::shared() const {
  return TaskHandle(array_->mutable_prototype(), 0);
}

JobBuilder::Ref JobBuilder::ArrayHandle::Add(absl::Span<const Ref> dependencies) {
  return Add(dependencies, "", "");
}

JobBuilder::Ref JobBuilder::ArrayHandle::Add(std::initializer_list<Ref> dependencies) {
  return Add(absl::MakeConstSpan(dependencies.begin(), dependencies.size()), "", "");
}

JobBuilder::Ref JobBuilder::ArrayHandle::Add(absl::Span<const Ref> dependencies,
                                             absl::string_view id, std::string payload) {
  // Places of tasks follow one another over all arrays, so only the latest may grow: an
  // earlier one goes on as a new piece.
  if (state_->latest != array_) {
    v1::TaskArray* piece = state_->job.add_task_arrays();
    *piece->mutable_prototype() = array_->prototype();
    array_ = piece;
    state_->latest = piece;
  }
  const std::int32_t count = array_->count();
  array_->set_count(count + 1);
  array_->add_dependency_counts(static_cast<std::int32_t>(dependencies.size()));
  for (const Ref dependency : dependencies) array_->add_dependency_indices(dependency.place_);
  if (!id.empty()) {
    while (array_->task_ids_size() < count) array_->add_task_ids();
  }
  if (!id.empty() || array_->task_ids_size() > 0) array_->add_task_ids(Text(id));
  const std::string& common = array_->prototype().payload();
  if (!payload.empty()) {
    while (array_->payloads_size() < count) array_->add_payloads(common);
  }
  if (!payload.empty() || array_->payloads_size() > 0) {
    if (payload.empty()) {
      array_->add_payloads(common);
    } else {
      array_->add_payloads(std::move(payload));
    }
  }
  return Ref(state_->array_tasks++);
}

JobBuilder::JobBuilder(absl::string_view display_name) : state_(std::make_unique<State>()) {
  state_->job.set_display_name(Text(display_name));
}
JobBuilder::~JobBuilder() = default;
JobBuilder::JobBuilder(JobBuilder&&) noexcept = default;
JobBuilder& JobBuilder::operator=(JobBuilder&&) noexcept = default;

JobBuilder& JobBuilder::FailurePolicy(v1::FailurePolicy policy) {
  state_->job.set_failure_policy(policy);
  return *this;
}

JobBuilder& JobBuilder::Priority(v1::Priority priority) {
  state_->job.set_priority(priority);
  return *this;
}

JobBuilder& JobBuilder::Timeout(absl::Duration whole_job) {
  *state_->job.mutable_timeout() = ToProto(whole_job);
  return *this;
}

JobBuilder& JobBuilder::Label(absl::string_view key, absl::string_view value) {
  (*state_->job.mutable_labels())[Text(key)] = Text(value);
  return *this;
}

JobBuilder::TaskHandle JobBuilder::Function(absl::string_view name) {
  v1::Task* task = state_->job.add_tasks();
  task->mutable_function()->set_name(Text(name));
  return TaskHandle(task, ~(state_->job.tasks_size() - 1));
}

JobBuilder::TaskHandle JobBuilder::Command(std::vector<std::string> argv) {
  v1::Task* task = state_->job.add_tasks();
  task->mutable_command();
  for (std::string& argument : argv) task->mutable_command()->add_argv(std::move(argument));
  return TaskHandle(task, ~(state_->job.tasks_size() - 1));
}

JobBuilder::TaskHandle JobBuilder::Handler(absl::string_view name) {
  v1::Task* task = state_->job.add_tasks();
  task->mutable_handler()->set_name(Text(name));
  return TaskHandle(task, ~(state_->job.tasks_size() - 1));
}

JobBuilder::ArrayHandle JobBuilder::Array(absl::string_view function) {
  v1::TaskArray* array = state_->job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name(Text(function));
  state_->latest = array;
  return ArrayHandle(state_.get(), array);
}

std::int64_t JobBuilder::task_count() const {
  return std::int64_t{state_->job.tasks_size()} + state_->array_tasks;
}

v1::Job JobBuilder::Build() const {
  v1::Job job = state_->job;
  ResolvePlaces(job);
  return job;
}

v1::Job JobBuilder::Take() {
  v1::Job job = std::move(state_->job);
  ResolvePlaces(job);
  *state_ = State();
  return job;
}

}  // namespace jackdaw::client
