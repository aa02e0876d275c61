// Between the wire and the graph: requests become graphs, snapshots become messages. No
// other file knows both sides of a task.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_CONVERT_H_
#define JACKDAW_SERVER_CONVERT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/job.h"
#include "server/catalog.h"
#include "server/job_spec.h"
#include "server/job_table.h"

namespace google::protobuf {
class Duration;
class Timestamp;
}  // namespace google::protobuf

namespace jackdaw {

namespace v1 {
class Job;
class Task;
class ServerLimits;
class Worker;
}  // namespace v1

// A job as asked for, checked and ready for the engine. `options.id` is not set.
struct GraphRequest {
  JobOptions options;
  TaskBatch batch;
  std::shared_ptr<const JobSpec> spec;
};

// Checks `job` and turns it into a graph; payloads are moved out of it. INVALID_ARGUMENT
// names every wrong field by its path, from `job` on, and a cycle node by node;
// PERMISSION_DENIED is for commands.
absl::StatusOr<GraphRequest> ToGraph(const Catalog& catalog, v1::Job* job);

// How many tasks `job` asks for. INVALID_ARGUMENT if that is more than a job may have.
absl::StatusOr<std::int64_t> CountTasks(const v1::Job& job, const ServerLimits& limits);

// What a message tells of a task.
struct TaskDetail {
  bool full = false;                  // Dependencies, attempts and output too.
  std::int64_t max_output_bytes = 0;  // Of a full one.
};

void ToProto(const JobEntry& entry, const JobSnapshot& snapshot, v1::Job* proto);
// `runner`: the name of the runner that runs the job's tasks.
void ToProto(const JobEntry& entry, const TaskSnapshot& snapshot, const std::string& runner,
             TaskDetail detail, v1::Task* proto);
void ToProto(const ServerLimits& limits, v1::ServerLimits* proto);
void ToProto(absl::Time time, google::protobuf::Timestamp* proto);
void ToProto(absl::Duration duration, google::protobuf::Duration* proto);

// v1.Job.State and v1.Task.State of a state, as numbers: for columns and filters.
[[nodiscard]] int StateNumber(JobState state);
[[nodiscard]] int StateNumber(TaskState state);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_CONVERT_H_
