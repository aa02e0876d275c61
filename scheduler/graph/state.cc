#include "scheduler/graph/state.h"

#include <array>

namespace jackdaw {

absl::string_view Name(TaskState state) {
  static constexpr std::array<absl::string_view, kTaskStateCount> kNames = {
      "WAITING", "QUEUED",    "RUNNING", "WAITING_FOR_CHILDREN", "BACKOFF", "SUCCEEDED",
      "FAILED",  "CANCELLED", "SKIPPED"};
  return kNames[static_cast<std::size_t>(state)];
}

absl::string_view Name(JobState state) {
  static constexpr std::array<absl::string_view, kJobStateCount> kNames = {
      "OPEN", "RUNNING", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace jackdaw
