#include "client/cpp/client.h"

#include <random>
#include <utility>

#include "client/cpp/connection.h"
#include "client/cpp/convert.h"
#include "client/cpp/errors.h"

namespace jackdaw::client {
namespace {

std::uint64_t SystemSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// The answer, unless the call failed.
template <typename T>
absl::StatusOr<T> Answer(const absl::Status& status, T answer) {
  if (!status.ok()) return status;
  return answer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(Options options) {
  absl::StatusOr<std::string> target = ParseAddress(options.address);
  if (!target.ok()) return target.status();
  Connection::Options connection;
  connection.address = options.address;
  connection.target = *std::move(target);
  connection.deadline = options.deadline;
  connection.retry = options.retry;
  connection.max_answer_bytes = options.max_answer_bytes;
  connection.seed = options.seed == 0 ? SystemSeed() : options.seed;
  connection.wait = options.wait ? std::move(options.wait)
                                 : [](absl::Duration duration) { absl::SleepFor(duration); };
  return std::unique_ptr<Client>(new Client(std::make_unique<Connection>(std::move(connection))));
}

Client::Client(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Client::~Client() = default;

const std::string& Client::address() const { return connection_->address(); }

absl::StatusOr<v1::Job> Client::CreateJob(v1::Job job, const CreateOptions& options) {
  v1::CreateJobRequest request;
  *request.mutable_job() = std::move(job);
  request.set_job_id(options.job_id);
  request.set_request_id(options.request_id.empty() ? connection_->NewRequestId()
                                                    : options.request_id);
  request.set_validate_only(options.validate_only);
  v1::Job created;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().CreateJob(context, request, &created);
  });
  return Answer(status, std::move(created));
}

absl::StatusOr<v1::Job> Client::GetJob(absl::string_view job) {
  v1::GetJobRequest request;
  request.set_name(JobName(job));
  v1::Job found;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().GetJob(context, request, &found);
  });
  return Answer(status, std::move(found));
}

absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(const v1::ListJobsRequest& request) {
  v1::ListJobsResponse page;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().ListJobs(context, request, &page);
  });
  return Answer(status, std::move(page));
}

absl::StatusOr<v1::Job> Client::CancelJob(absl::string_view job, absl::string_view reason) {
  v1::CancelJobRequest request;
  request.set_name(JobName(job));
  request.set_reason(std::string(reason));
  v1::Job cancelled;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().CancelJob(context, request, &cancelled);
  });
  return Answer(status, std::move(cancelled));
}

absl::Status Client::DeleteJob(absl::string_view job) {
  v1::DeleteJobRequest request;
  request.set_name(JobName(job));
  google::protobuf::Empty nothing;
  int attempts = 0;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    ++attempts;
    return connection_->jobs().DeleteJob(context, request, &nothing);
  });
  // An attempt before may have deleted it although its answer was lost.
  if (attempts > 1 && absl::IsNotFound(status)) return absl::OkStatus();
  return status;
}

std::unique_ptr<JobWatch> Client::StartJob(v1::Job job, const RunOptions& options) {
  v1::RunJobRequest run;
  *run.mutable_job() = std::move(job);
  run.set_job_id(options.job_id);
  run.set_request_id(options.request_id.empty() ? connection_->NewRequestId() : options.request_id);
  run.set_cancel_on_disconnect(options.cancel_on_disconnect);
  run.set_final_only(options.final_only);
  run.set_task_updates(options.task_updates);
  run.set_max_output_bytes(options.max_output_bytes);
  v1::WatchJobRequest watch;
  watch.set_task_updates(options.task_updates);
  watch.set_max_output_bytes(options.max_output_bytes);
  return std::make_unique<JobWatch>(connection_.get(), std::move(run), std::move(watch),
                                    options.deadline);
}

std::unique_ptr<JobWatch> Client::WatchJob(absl::string_view job, const WatchOptions& options) {
  v1::WatchJobRequest watch;
  watch.set_name(JobName(job));
  watch.set_revision(options.revision);
  watch.set_task_updates(options.task_updates);
  watch.set_max_output_bytes(options.max_output_bytes);
  return std::make_unique<JobWatch>(connection_.get(), std::nullopt, std::move(watch),
                                    options.deadline);
}

absl::StatusOr<v1::Job> Client::RunJob(v1::Job job, const RunOptions& options,
                                       const std::function<void(const v1::JobEvent&)>& on_event) {
  const std::unique_ptr<JobWatch> watch = StartJob(std::move(job), options);
  v1::JobEvent event;
  v1::Job last;
  while (true) {
    const absl::StatusOr<bool> more = watch->Next(event);
    if (!more.ok()) return more.status();
    if (!*more) return last;
    if (on_event) on_event(event);
    if (event.has_job()) last.Swap(event.mutable_job());
  }
}

absl::StatusOr<v1::Job> Client::RunJob(v1::Job job) {
  RunOptions options;
  options.final_only = true;
  return RunJob(std::move(job), options);
}

absl::StatusOr<v1::Task> Client::GetTask(absl::string_view job, absl::string_view task,
                                         std::int32_t max_output_bytes) {
  v1::GetTaskRequest request;
  request.set_name(TaskName(job, task));
  request.set_view(v1::TASK_VIEW_FULL);
  request.set_max_output_bytes(max_output_bytes);
  v1::Task found;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().GetTask(context, request, &found);
  });
  return Answer(status, std::move(found));
}

absl::StatusOr<v1::ListTasksResponse> Client::ListTasks(const v1::ListTasksRequest& request) {
  v1::ListTasksResponse page;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->jobs().ListTasks(context, request, &page);
  });
  return Answer(status, std::move(page));
}

absl::StatusOr<std::int64_t> Client::ReadOutput(
    absl::string_view job, absl::string_view task, const ReadOptions& options,
    const std::function<void(absl::string_view)>& sink) {
  v1::ReadOutputRequest request;
  request.set_name(TaskName(job, task));
  request.set_source(options.source);
  request.set_attempt(options.attempt);
  request.set_offset(options.offset);
  request.set_limit(options.limit);
  std::int64_t got = 0;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    // What came before an interruption is not read again.
    request.set_offset(options.offset + got);
    if (options.limit > 0) {
      if (got == options.limit) return grpc::Status::OK;
      request.set_limit(options.limit - got);
    }
    const auto reader = connection_->jobs().ReadOutput(context, request);
    v1::ReadOutputResponse piece;
    while (reader->Read(&piece)) {
      got += static_cast<std::int64_t>(piece.data().size());
      sink(piece.data());
    }
    return reader->Finish();
  });
  return Answer(status, got);
}

absl::StatusOr<v1::Server> Client::GetServer() {
  v1::Server server;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->server().GetServer(context, v1::GetServerRequest(), &server);
  });
  return Answer(status, std::move(server));
}

absl::StatusOr<bool> Client::IsServing() {
  using grpc::health::v1::HealthCheckResponse;
  HealthCheckResponse response;
  const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
    return connection_->health().Check(context, grpc::health::v1::HealthCheckRequest(), &response);
  });
  return Answer(status, response.status() == HealthCheckResponse::SERVING);
}

absl::StatusOr<std::vector<v1::Worker>> Client::ListWorkers() {
  std::vector<v1::Worker> workers;
  v1::ListWorkersRequest request;
  do {
    v1::ListWorkersResponse page;
    const absl::Status status = connection_->Call([&](grpc::ClientContext* context) {
      return connection_->server().ListWorkers(context, request, &page);
    });
    if (!status.ok()) return status;
    for (v1::Worker& worker : *page.mutable_workers()) workers.push_back(std::move(worker));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return workers;
}

}  // namespace jackdaw::client
