#include "tests/support/reference_executor.h"

#include <algorithm>
#include <cstddef>

namespace jackdaw {
namespace {

bool Runs(const ReferenceTask& task, const std::vector<ReferenceResult>& results) {
  const auto count = [&](TaskState state) {
    return std::count_if(task.dependencies.begin(), task.dependencies.end(),
                         [&](std::uint32_t d) { return results[d].state == state; });
  };
  switch (task.run_if) {
    case RunIf::kAllDone:
      return true;
    case RunIf::kAnyFailed:
      return count(TaskState::kFailed) > 0;
    case RunIf::kAllSucceeded:
      break;
  }
  return count(TaskState::kSucceeded) == static_cast<std::ptrdiff_t>(task.dependencies.size());
}

ReferenceResult Run(const ReferenceTask& task) {
  for (int attempt = 1; attempt <= task.max_attempts; ++attempt) {
    const absl::StatusCode code = task.script[static_cast<std::size_t>(attempt - 1)];
    if (code == absl::StatusCode::kOk) return {TaskState::kSucceeded, attempt};
    if (code != absl::StatusCode::kUnavailable) return {TaskState::kFailed, attempt};
  }
  return {TaskState::kFailed, task.max_attempts};
}

}  // namespace

std::vector<ReferenceResult> RunReference(const std::vector<ReferenceTask>& tasks) {
  std::vector<ReferenceResult> results(tasks.size());
  const auto ended = [&](std::uint32_t task) { return IsTerminal(results[task].state); };
  // Sweeps until a sweep finds nothing to do: slow, and plainly right.
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const std::vector<std::uint32_t>& dependencies = tasks[i].dependencies;
      if (ended(i) || !std::all_of(dependencies.begin(), dependencies.end(), ended)) continue;
      results[i] = Runs(tasks[i], results) ? Run(tasks[i]) : ReferenceResult{TaskState::kSkipped};
      again = true;
    }
  }
  return results;
}

}  // namespace jackdaw
