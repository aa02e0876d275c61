#include "server/job_service.h"

#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "jackdaw/v1/job_service.pb.h"
#include "server/convert.h"
#include "server/errors.h"
#include "server/job_watch.h"
#include "server/paging.h"
#include "server/resource_names.h"

namespace jackdaw {
namespace {

constexpr std::int64_t kMaxJobsPerPage = 1000;
constexpr std::int64_t kMaxTasksPerPage = 10'000;
constexpr std::int64_t kMaxTasksLookedAt = 1 << 20;  // For one page; the rest is for the next.
constexpr std::int64_t kMaxOutputBytes = 1 << 20;    // Given back with a task.
constexpr std::int64_t kMaxPageOutputBytes = 1 << 20;
constexpr std::size_t kMaxReasonBytes = 1024;
constexpr std::int64_t kOutputPieceBytes = 256 << 10;

absl::Status CheckOutputLimit(std::int64_t max_output_bytes) {
  if (max_output_bytes >= 0 && max_output_bytes <= kMaxOutputBytes) return absl::OkStatus();
  return FieldError("max_output_bytes",
                    absl::StrCat("must be 0 to ", kMaxOutputBytes, ", was ", max_output_bytes));
}

absl::Status CheckView(int view) {
  if (v1::TaskView_IsValid(view)) return absl::OkStatus();
  return FieldError("view", absl::StrCat("is not a known value: ", view));
}

absl::StatusOr<JobEvents::Tasks> ToTasks(v1::TaskUpdates updates) {
  switch (updates) {
    case v1::TASK_UPDATES_UNSPECIFIED:
    case v1::TASK_UPDATES_NONE:
      return JobEvents::Tasks::kNone;
    case v1::TASK_UPDATES_STATES:
      return JobEvents::Tasks::kStates;
    case v1::TASK_UPDATES_FULL:
      return JobEvents::Tasks::kFull;
    default:
      return FieldError("task_updates",
                        absl::StrCat("is not a known value: ", static_cast<int>(updates)));
  }
}

// A filter that lets through the states in `asked`, or all. `first` is the number on the
// wire of state 0.
template <std::size_t kStates, typename Asked>
absl::StatusOr<std::array<bool, kStates>> ToFilter(const Asked& asked, int first) {
  std::array<bool, kStates> filter;
  filter.fill(asked.empty());
  for (int i = 0; i < asked.size(); ++i) {
    const int state = static_cast<int>(asked.Get(i)) - first;
    if (state < 0 || state >= static_cast<int>(kStates)) {
      return FieldError(absl::StrCat("states[", i, "]"),
                        absl::StrCat("is not a known value: ", static_cast<int>(asked.Get(i))));
    }
    filter[static_cast<std::size_t>(state)] = true;
  }
  return filter;
}

Rpc Refuse(std::shared_ptr<Call> call, absl::Status status) {
  auto finish = call->Finish(status);
  co_await finish;
}

// The same for requests that say the same.
std::uint64_t Fingerprint(const v1::Job& job, absl::string_view job_id) {
  return absl::HashOf(SerializeDeterministically(job), job_id);
}

}  // namespace

JobService::JobService(JobEngine& engine, JobTable& table, Catalog catalog)
    : engine_(engine), table_(table), catalog_(std::move(catalog)) {}

void JobService::Register(RpcService* service) {
  service->HandleUnary<v1::CreateJobRequest, v1::Job>(
      "CreateJob",
      [this](const Call& call, auto& request, auto* job) { return CreateJob(call, request, job); });
  service->HandleUnary<v1::GetJobRequest, v1::Job>(
      "GetJob", [this](const Call&, auto& request, auto* job) { return GetJob(request, job); });
  service->HandleUnary<v1::ListJobsRequest, v1::ListJobsResponse>(
      "ListJobs",
      [this](const Call&, auto& request, auto* response) { return ListJobs(request, response); });
  service->HandleUnary<v1::CancelJobRequest, v1::Job>(
      "CancelJob",
      [this](const Call&, auto& request, auto* job) { return CancelJob(request, job); });
  service->HandleUnary<v1::DeleteJobRequest, google::protobuf::Empty>(
      "DeleteJob", [this](const Call&, auto& request, auto*) { return DeleteJob(request); });
  service->HandleUnary<v1::GetTaskRequest, v1::Task>(
      "GetTask", [this](const Call&, auto& request, auto* task) { return GetTask(request, task); });
  service->HandleUnary<v1::ListTasksRequest, v1::ListTasksResponse>(
      "ListTasks",
      [this](const Call&, auto& request, auto* response) { return ListTasks(request, response); });
  service->Handle("RunJob", [this](auto call) { return RunJob(std::move(call)); });
  service->Handle("WatchJob", [this](auto call) { return WatchJob(std::move(call)); });
  service->Handle("ReadOutput", [this](auto call) { return ReadOutput(std::move(call)); });
}

absl::StatusOr<JobEntry> JobService::Submit(const Call& call, const Submission& submission) {
  if (!submission.job_id.empty() && !IsJobId(submission.job_id)) {
    return FieldError("job_id", absl::StrCat(kJobIdRule, ", was \"", submission.job_id, "\""));
  }
  if (!IsToken(submission.request_id)) return FieldError("request_id", kTokenRule);
  absl::StatusOr<std::int64_t> tasks = CountTasks(*submission.job, *catalog_.limits);
  if (!tasks.ok()) return tasks.status();
  JobTable::Request asked = {submission.job_id, submission.request_id, 0, *tasks};
  if (!asked.request_id.empty()) asked.fingerprint = Fingerprint(*submission.job, asked.job_id);
  Catalog catalog = catalog_;
  catalog.caller_may_run_commands = call.from_this_machine();
  if (submission.validate_only) {
    absl::Status valid = ToGraph(catalog, submission.job).status();
    if (valid.ok()) valid = table_.WouldAdmit(asked);
    if (!valid.ok()) return valid;
    return JobEntry();
  }
  absl::StatusOr<JobTable::Admission> admission = table_.Admit(asked);
  if (!admission.ok()) return admission.status();
  if (admission->earlier.job != nullptr) return admission->earlier;
  absl::StatusOr<GraphRequest> graph = ToGraph(catalog, submission.job);
  if (graph.ok()) {
    graph->options.id = admission->job_id;
    absl::StatusOr<std::shared_ptr<Job>> job =
        engine_.Create(std::move(graph->options), std::move(graph->batch), /*seal=*/true);
    if (job.ok()) return table_.Commit(asked, *std::move(job), std::move(graph->spec));
    graph = job.status();
  }
  table_.Abandon(asked, *admission);
  return graph.status();
}

absl::Status JobService::CreateJob(const Call& call, v1::CreateJobRequest& request,
                                   v1::Job* response) {
  if (request.leave_open()) {
    return MakeError(absl::StatusCode::kUnimplemented,
                     "leave_open: this server does not grow jobs yet", "OPEN_JOBS_NOT_IMPLEMENTED");
  }
  if (!IsToken(request.upload_id())) return FieldError("upload_id", kTokenRule);
  absl::StatusOr<JobEntry> entry = Submit(call, {request.mutable_job(), request.job_id(),
                                                 request.request_id(), request.validate_only()});
  if (!entry.ok()) return entry.status();
  if (entry->job != nullptr) {
    ToProto(*entry, entry->job->Snapshot(), response);
    return absl::OkStatus();
  }
  response->Swap(request.mutable_job());
  response->mutable_task_counts()->set_total(*CountTasks(*response, *catalog_.limits));
  response->clear_tasks();
  response->clear_task_arrays();
  return absl::OkStatus();
}

absl::StatusOr<JobEntry> JobService::FindJob(absl::string_view field,
                                             absl::string_view name) const {
  absl::StatusOr<std::string> id = ParseJobName(field, name);
  if (!id.ok()) return id.status();
  return table_.Find(*id);
}

absl::StatusOr<TaskIndex> JobService::FindTask(absl::string_view name, JobEntry* entry) const {
  absl::StatusOr<TaskNameParts> parts = ParseTaskName("name", name);
  if (!parts.ok()) return parts.status();
  absl::StatusOr<JobEntry> job = table_.Find(parts->job_id);
  if (!job.ok()) return job.status();
  *entry = *std::move(job);
  const std::optional<TaskIndex> found = entry->job->Find(parts->task);
  if (found.has_value()) return *found;
  std::int64_t index = 0;
  if (IsDecimal(parts->task) && absl::SimpleAtoi(parts->task, &index) &&
      index < entry->job->task_count()) {
    return static_cast<TaskIndex>(index);
  }
  return NotFound(name, "TASK_NOT_FOUND");
}

absl::Status JobService::GetJob(const v1::GetJobRequest& request, v1::Job* response) {
  absl::StatusOr<JobEntry> entry = FindJob("name", request.name());
  if (!entry.ok()) return entry.status();
  ToProto(*entry, entry->job->Snapshot(), response);
  return absl::OkStatus();
}

absl::Status JobService::ListJobs(const v1::ListJobsRequest& request,
                                  v1::ListJobsResponse* response) {
  absl::StatusOr<std::int64_t> size = PageSize(request.page_size(), kMaxJobsPerPage);
  if (!size.ok()) return size.status();
  absl::StatusOr<std::int64_t> before = ParsePageToken("jobs", request.page_token());
  if (!before.ok()) return before.status();
  auto filter = ToFilter<kJobStateCount>(request.states(), StateNumber(JobState::kOpen));
  if (!filter.ok()) return filter.status();
  const JobTable::Page page = table_.List(*before, *size, *filter);
  for (const JobEntry& entry : page.jobs) {
    ToProto(entry, entry.job->Snapshot(), response->add_jobs());
  }
  if (page.next_before != 0) {
    response->set_next_page_token(MakePageToken("jobs", page.next_before));
  }
  return absl::OkStatus();
}

absl::Status JobService::CancelJob(const v1::CancelJobRequest& request, v1::Job* response) {
  if (request.reason().size() > kMaxReasonBytes) {
    return FieldError("reason", absl::StrCat("has ", request.reason().size(),
                                             " bytes; the limit is ", kMaxReasonBytes));
  }
  absl::StatusOr<JobEntry> entry = FindJob("name", request.name());
  if (!entry.ok()) return entry.status();
  entry->job->Cancel(absl::CancelledError(
      request.reason().empty() ? "cancelled on request"
                               : absl::StrCat("cancelled on request: ", request.reason())));
  ToProto(*entry, entry->job->Snapshot(), response);
  return absl::OkStatus();
}

absl::Status JobService::DeleteJob(const v1::DeleteJobRequest& request) {
  absl::StatusOr<std::string> id = ParseJobName("name", request.name());
  if (!id.ok()) return id.status();
  return table_.Delete(*id);
}

absl::Status JobService::GetTask(const v1::GetTaskRequest& request, v1::Task* response) {
  if (absl::Status view = CheckView(request.view()); !view.ok()) return view;
  absl::Status limit = CheckOutputLimit(request.max_output_bytes());
  if (!limit.ok()) return limit;
  JobEntry entry;
  absl::StatusOr<TaskIndex> index = FindTask(request.name(), &entry);
  if (!index.ok()) return index.status();
  const TaskDetail detail = {request.view() != v1::TASK_VIEW_BASIC, request.max_output_bytes()};
  ToProto(entry, entry.job->Task(*index), catalog_.runners.front(), detail, response);
  return absl::OkStatus();
}

absl::Status JobService::ListTasks(const v1::ListTasksRequest& request,
                                   v1::ListTasksResponse* response) {
  absl::StatusOr<std::int64_t> size = PageSize(request.page_size(), kMaxTasksPerPage);
  if (!size.ok()) return size.status();
  if (absl::Status view = CheckView(request.view()); !view.ok()) return view;
  absl::Status limit = CheckOutputLimit(request.max_output_bytes());
  if (!limit.ok()) return limit;
  auto filter = ToFilter<kTaskStateCount>(request.states(), StateNumber(TaskState::kWaiting));
  if (!filter.ok()) return filter.status();
  absl::StatusOr<JobEntry> entry = FindJob("parent", request.parent());
  if (!entry.ok()) return entry.status();
  absl::StatusOr<std::int64_t> next = ParsePageToken(request.parent(), request.page_token());
  if (!next.ok()) return next.status();

  const TaskDetail detail = {request.view() == v1::TASK_VIEW_FULL, request.max_output_bytes()};
  const std::int64_t count = entry->job->task_count();
  const std::int64_t last = std::min(count, *next + kMaxTasksLookedAt);
  std::int64_t index = *next;
  std::int64_t bytes = 0;
  for (; index < last && response->tasks_size() < *size && bytes < kMaxPageOutputBytes; ++index) {
    const auto task = static_cast<TaskIndex>(index);
    if (!(*filter)[static_cast<std::size_t>(entry->job->task_state(task))]) continue;
    v1::Task* told = response->add_tasks();
    ToProto(*entry, entry->job->Task(task), catalog_.runners.front(), detail, told);
    bytes += static_cast<std::int64_t>(told->output().size());
  }
  if (index < count) response->set_next_page_token(MakePageToken(request.parent(), index));
  return absl::OkStatus();
}

Rpc JobService::RunJob(std::shared_ptr<Call> call) {
  v1::RunJobRequest request;
  if (absl::Status parsed = call->ParseRequest(&request); !parsed.ok()) {
    return Refuse(std::move(call), parsed);
  }
  WatchOptions options;
  absl::StatusOr<JobEvents::Tasks> tasks = ToTasks(request.task_updates());
  if (!tasks.ok()) return Refuse(std::move(call), tasks.status());
  absl::Status limit = CheckOutputLimit(request.max_output_bytes());
  if (!limit.ok()) return Refuse(std::move(call), limit);
  absl::StatusOr<JobEntry> entry =
      Submit(*call, {request.mutable_job(), request.job_id(), request.request_id()});
  if (!entry.ok()) return Refuse(std::move(call), entry.status());
  options.runner = catalog_.runners.front();
  options.tasks = *tasks;
  options.max_output_bytes = request.max_output_bytes();
  options.final_only = request.final_only();
  options.cancel_on_disconnect = request.cancel_on_disconnect();
  options.created_here = true;
  return FollowJob(std::move(call), *std::move(entry), std::move(options));
}

Rpc JobService::WatchJob(std::shared_ptr<Call> call) {
  v1::WatchJobRequest request;
  absl::Status wrong = call->ParseRequest(&request);
  if (wrong.ok()) wrong = CheckOutputLimit(request.max_output_bytes());
  if (wrong.ok() && request.revision() < 0) {
    wrong = FieldError("revision", absl::StrCat("must not be negative, was ", request.revision()));
  }
  if (!wrong.ok()) return Refuse(std::move(call), wrong);
  absl::StatusOr<JobEvents::Tasks> tasks = ToTasks(request.task_updates());
  if (!tasks.ok()) return Refuse(std::move(call), tasks.status());
  absl::StatusOr<JobEntry> entry = FindJob("name", request.name());
  if (!entry.ok()) return Refuse(std::move(call), entry.status());
  WatchOptions options;
  options.runner = catalog_.runners.front();
  options.tasks = *tasks;
  options.max_output_bytes = request.max_output_bytes();
  options.revision = static_cast<std::uint64_t>(request.revision());
  return FollowJob(std::move(call), *std::move(entry), std::move(options));
}

absl::StatusOr<Bytes> JobService::FindOutput(const Call& call, std::int64_t* offset,
                                             std::int64_t* end) {
  v1::ReadOutputRequest request;
  if (absl::Status parsed = call.ParseRequest(&request); !parsed.ok()) return parsed;
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"offset", request.offset()}, {"limit", request.limit()}, {"attempt", request.attempt()}};
  for (const auto& [field, value] : numbers) {
    if (value < 0) return FieldError(field, absl::StrCat("must not be negative, was ", value));
  }
  if (!v1::ReadOutputRequest::Source_IsValid(request.source())) {
    return FieldError("source", absl::StrCat("is not a known value: ", request.source()));
  }
  JobEntry entry;
  absl::StatusOr<TaskIndex> index = FindTask(request.name(), &entry);
  if (!index.ok()) return index.status();
  TaskSnapshot task = entry.job->Task(*index);
  Bytes bytes = std::move(task.output);
  if (request.source() == v1::ReadOutputRequest::SOURCE_LOG) {
    bytes = Bytes();
    const int wanted = request.attempt() != 0 ? request.attempt() : task.attempts;
    const auto record = std::find_if(task.attempt_records.begin(), task.attempt_records.end(),
                                     [&](const AttemptRecord& r) { return r.number == wanted; });
    if (record != task.attempt_records.end()) {
      bytes = record->log;
    } else if (request.attempt() != 0) {
      return NotFound(absl::StrCat(request.name(), ", attempt ", wanted), "ATTEMPT_NOT_FOUND");
    }
  } else if (task.state != TaskState::kSucceeded) {
    return PreconditionError(request.name(),
                             absl::StrCat("has no output: it is ", Name(task.state)),
                             "TASK_NOT_SUCCEEDED");
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (request.offset() > size) {
    return MakeError(absl::StatusCode::kOutOfRange,
                     absl::StrCat("offset: ", request.offset(), " is past the end at ", size),
                     "OFFSET_PAST_END", {{"total_bytes", absl::StrCat(size)}});
  }
  *offset = request.offset();
  *end = request.limit() == 0 ? size : *offset + std::min(request.limit(), size - *offset);
  return bytes;
}

Rpc JobService::ReadOutput(std::shared_ptr<Call> call) {
  std::int64_t offset = 0;
  std::int64_t end = 0;
  absl::StatusOr<Bytes> bytes = FindOutput(*call, &offset, &end);
  if (!bytes.ok()) {
    auto finish = call->Finish(bytes.status());
    co_await finish;
    co_return;
  }
  v1::ReadOutputResponse piece;
  piece.set_total_bytes(static_cast<std::int64_t>(bytes->size()));
  for (;;) {
    const std::int64_t size = std::min(kOutputPieceBytes, end - offset);
    const absl::string_view data =
        bytes->view().substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    piece.set_data(data.data(), data.size());
    piece.set_offset(offset);
    offset += size;
    if (offset == end) break;
    auto write = call->Write(piece, Call::Burst::kMore);
    const RpcCounters::Pending pending(call->counters());
    const bool listening = co_await write;
    if (!listening) {
      auto finish = call->Finish(absl::CancelledError("the client is gone"));
      co_await finish;
      co_return;
    }
  }
  auto last = call->WriteAndFinish(piece);
  co_await last;
}

}  // namespace jackdaw
