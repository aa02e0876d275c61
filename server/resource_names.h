// The names of resources and the rules for the ids in them.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_RESOURCE_NAMES_H_
#define JACKDAW_SERVER_RESOURCE_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

inline constexpr char kTaskIdRule[] =
    "must be 1 to 128 of a-z, A-Z, 0-9, '_', '-' and '.', not digits only";
inline constexpr char kJobIdRule[] =
    "must be 1 to 63 of a-z, 0-9 and '-', starting with a letter, not ending with '-'";
inline constexpr char kTokenRule[] = "must be at most 128 printable ASCII characters";

[[nodiscard]] bool IsTaskId(absl::string_view id);
[[nodiscard]] bool IsJobId(absl::string_view id);
// A request_id or an upload_id; also empty.
[[nodiscard]] bool IsToken(absl::string_view token);
[[nodiscard]] bool IsDecimal(absl::string_view text);

[[nodiscard]] std::string JobName(absl::string_view job_id);
[[nodiscard]] std::string TaskName(absl::string_view job_id, absl::string_view task_id);

// The {job} of `jobs/{job}`. INVALID_ARGUMENT names `field`.
absl::StatusOr<std::string> ParseJobName(absl::string_view field, absl::string_view name);

struct TaskNameParts {
  std::string job_id;
  std::string task;  // An id or an index.
};
// Of `jobs/{job}/tasks/{task}`. INVALID_ARGUMENT names `field`.
absl::StatusOr<TaskNameParts> ParseTaskName(absl::string_view field, absl::string_view name);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RESOURCE_NAMES_H_
