// The parts of a request that say how jobs and tasks are to be treated: checked field by
// field and turned into the graph's policies.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_POLICY_CONVERT_H_
#define JACKDAW_SERVER_POLICY_CONVERT_H_

#include <google/protobuf/map.h>

#include <string>

#include "scheduler/graph/job.h"
#include "scheduler/graph/policy.h"
#include "server/errors.h"

namespace jackdaw {

namespace v1 {
class Job;
class Task;
}  // namespace v1

// All of `job` but its tasks. Paths begin with `job`.
void ToJobOptions(const v1::Job& job, JobOptions* options, Violations* violations);

// `path` is the task's; `priority` is what it has unless it says otherwise.
[[nodiscard]] TaskPolicy ToPolicy(const v1::Task& task, Priority priority, const std::string& path,
                                  Violations* violations);

void CheckLabels(const std::string& path,
                 const google::protobuf::Map<std::string, std::string>& labels,
                 Violations* violations);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_POLICY_CONVERT_H_
