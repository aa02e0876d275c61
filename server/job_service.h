// JobService: one short method per RPC of jackdaw.v1.JobService.
//
// Thread safety: every method from any thread; what it is made of outlives it.

#ifndef JACKDAW_SERVER_JOB_SERVICE_H_
#define JACKDAW_SERVER_JOB_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/graph/engine.h"
#include "server/catalog.h"
#include "server/job_table.h"
#include "server/rpc/call.h"
#include "server/rpc/rpc.h"
#include "server/rpc/service.h"

namespace google::protobuf {
class Empty;
}  // namespace google::protobuf

namespace jackdaw {

namespace v1 {
class CancelJobRequest;
class CreateJobRequest;
class DeleteJobRequest;
class GetJobRequest;
class GetTaskRequest;
class Job;
class ListJobsRequest;
class ListJobsResponse;
class ListTasksRequest;
class ListTasksResponse;
class Task;
}  // namespace v1

class JobService {
 public:
  // `catalog` without a caller; its first runner runs the tasks.
  JobService(JobEngine& engine, JobTable& table, Catalog catalog);

  // Gives `service` its handlers.
  void Register(RpcService* service);

 private:
  // What CreateJob and RunJob have in common.
  struct Submission {
    v1::Job* job;  // Its payloads are moved out.
    std::string job_id;
    std::string request_id;
    bool validate_only = false;
  };

  // Checks, admits and starts. An entry without a job if `validate_only`.
  absl::StatusOr<JobEntry> Submit(const Call& call, const Submission& submission);

  absl::Status CreateJob(const Call& call, v1::CreateJobRequest& request, v1::Job* response);
  absl::Status GetJob(const v1::GetJobRequest& request, v1::Job* response);
  absl::Status ListJobs(const v1::ListJobsRequest& request, v1::ListJobsResponse* response);
  absl::Status CancelJob(const v1::CancelJobRequest& request, v1::Job* response);
  absl::Status DeleteJob(const v1::DeleteJobRequest& request);
  absl::Status GetTask(const v1::GetTaskRequest& request, v1::Task* response);
  absl::Status ListTasks(const v1::ListTasksRequest& request, v1::ListTasksResponse* response);
  Rpc RunJob(std::shared_ptr<Call> call);
  Rpc WatchJob(std::shared_ptr<Call> call);
  Rpc ReadOutput(std::shared_ptr<Call> call);

  absl::StatusOr<JobEntry> FindJob(absl::string_view field, absl::string_view name) const;
  absl::StatusOr<TaskIndex> FindTask(absl::string_view name, JobEntry* entry) const;
  absl::StatusOr<Bytes> FindOutput(const Call& call, std::int64_t* offset, std::int64_t* end);

  JobEngine& engine_;
  JobTable& table_;
  const Catalog catalog_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_SERVICE_H_
