// How a task is to be treated: when it runs, how often it is tried, how long it may take.

#ifndef JACKDAW_SCHEDULER_GRAPH_POLICY_H_
#define JACKDAW_SCHEDULER_GRAPH_POLICY_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

struct RetryPolicy {
  int max_attempts = 1;  // 1 to kMaxAttempts, the first included.
  // The wait before attempt n + 1 is initial_backoff * multiplier^(n-1), at most
  // max_backoff, then scaled by a random factor in [1 - jitter, 1 + jitter].
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(30);
  double multiplier = 2;  // 1 to kMaxMultiplier.
  double jitter = 0.2;    // 0 to 1.
  // The codes that are worth another attempt. Empty: all but those that another attempt
  // cannot change (IsRetryable()).
  std::vector<absl::StatusCode> codes;

  static constexpr int kMaxAttempts = 1000;
  static constexpr double kMaxMultiplier = 100;
};

struct TaskPolicy {
  RunIf run_if = RunIf::kAllSucceeded;
  Priority priority = Priority::kNormal;
  RetryPolicy retry;
  // Zero: none. An attempt that exceeds the first fails with DEADLINE_EXCEEDED and may be
  // retried; a task that waits in the queue for longer than the second fails for good.
  absl::Duration attempt_timeout = absl::ZeroDuration();
  absl::Duration queue_timeout = absl::ZeroDuration();

  // Of every span above, those of `retry` included.
  static constexpr absl::Duration kMaxSpan = absl::Hours(24 * 365);
};

// Whether a failure with `code` is tried again under `policy`, attempts permitting. By
// default INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
// UNAUTHENTICATED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED and CANCELLED are not.
[[nodiscard]] bool IsRetryable(const RetryPolicy& policy, absl::StatusCode code);

// The wait after attempt `attempt` (from 1) failed; `fraction`, uniform in [0, 1), decides the
// jitter.
[[nodiscard]] absl::Duration Backoff(const RetryPolicy& policy, int attempt, double fraction);

// INVALID_ARGUMENT, with the field (`retry.max_attempts`), its limit and its value.
[[nodiscard]] absl::Status Validate(const TaskPolicy& policy);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_POLICY_H_
