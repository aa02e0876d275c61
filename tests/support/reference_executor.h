// ReferenceExecutor: what a graph of tasks comes to, worked out on one thread without queues,
// workers or time. Tests hold the engine's result against it.

#ifndef JACKDAW_TESTS_SUPPORT_REFERENCE_EXECUTOR_H_
#define JACKDAW_TESTS_SUPPORT_REFERENCE_EXECUTOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

struct ReferenceTask {
  std::vector<std::uint32_t> dependencies;  // Indices of tasks, earlier or later ones.
  RunIf run_if = RunIf::kAllSucceeded;
  int max_attempts = 1;
  // How each attempt ends: one entry for each of `max_attempts`.
  std::vector<absl::StatusCode> script;
};

struct ReferenceResult {
  TaskState state = TaskState::kWaiting;  // SUCCEEDED, FAILED or SKIPPED.
  int attempts = 0;
};

// The end of every task when nothing is cancelled and every failure policy is kContinue.
// Requires that the graph has no cycle. UNAVAILABLE is tried again, other failures are final.
[[nodiscard]] std::vector<ReferenceResult> RunReference(const std::vector<ReferenceTask>& tasks);

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_REFERENCE_EXECUTOR_H_
