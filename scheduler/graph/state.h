// The states of tasks and jobs, and the words of a task's policy.

#ifndef JACKDAW_SCHEDULER_GRAPH_STATE_H_
#define JACKDAW_SCHEDULER_GRAPH_STATE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "scheduler/base/priority.h"

namespace jackdaw {

//   WAITING -> QUEUED -> RUNNING -> SUCCEEDED | FAILED
//                          |  ^ \-> BACKOFF -> QUEUED
//                          v  |
//                  WAITING_FOR_CHILDREN
// and from every state that is not terminal to CANCELLED; from WAITING also to SKIPPED.
enum class TaskState : std::uint8_t {
  kWaiting,             // For dependencies.
  kQueued,              // Ready to run.
  kRunning,             // An attempt is under way.
  kWaitingForChildren,  // Its own work is done, that of its children is not.
  kBackoff,             // Will be tried again.
  kSucceeded,           // From here on terminal.
  kFailed,
  kCancelled,
  kSkipped,
};
inline constexpr int kTaskStateCount = 9;

enum class JobState : std::uint8_t {
  kOpen,        // Takes more tasks; those it has may run already.
  kRunning,     // Sealed, and some task is not terminal.
  kCancelling,  // Cancelled, and some attempt has not stopped yet.
  kSucceeded,   // From here on terminal. Sealed, and no task failed or was cancelled.
  kFailed,      // Some task failed.
  kCancelled,   // Cancelled on request, or no task failed and some were cancelled.
};
inline constexpr int kJobStateCount = 6;

[[nodiscard]] constexpr bool IsTerminal(TaskState state) { return state >= TaskState::kSucceeded; }
[[nodiscard]] constexpr bool IsTerminal(JobState state) { return state >= JobState::kSucceeded; }

// "WAITING", "QUEUED", ...
[[nodiscard]] absl::string_view Name(TaskState state);
[[nodiscard]] absl::string_view Name(JobState state);

// When a task whose dependencies are all terminal runs; otherwise it is SKIPPED.
enum class RunIf : std::uint8_t {
  kAllSucceeded,  // Every dependency SUCCEEDED. Also when there are none.
  kAllDone,       // Always.
  kAnyFailed,     // At least one dependency FAILED. Never when there are none.
};

enum class FailurePolicy : std::uint8_t {
  kContinue,  // What does not depend on the failed task goes on.
  kFailFast,  // The first FAILED task cancels all that has not ended.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_STATE_H_
