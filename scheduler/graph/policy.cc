#include "scheduler/graph/policy.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

absl::Status OutOfRange(absl::string_view field, absl::string_view limit, absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat(field, " must be ", limit, ", was ", value));
}

absl::Status CheckSpan(absl::string_view field, absl::Duration span) {
  if (span >= absl::ZeroDuration() && span <= TaskPolicy::kMaxSpan) return absl::OkStatus();
  return OutOfRange(field, absl::StrCat("0 to ", absl::FormatDuration(TaskPolicy::kMaxSpan)),
                    absl::FormatDuration(span));
}

}  // namespace

bool IsRetryable(const RetryPolicy& policy, absl::StatusCode code) {
  if (code == absl::StatusCode::kOk) return false;
  if (!policy.codes.empty()) {
    return std::find(policy.codes.begin(), policy.codes.end(), code) != policy.codes.end();
  }
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kCancelled:
      return false;
    default:
      return true;
  }
}

absl::Duration Backoff(const RetryPolicy& policy, int attempt, double fraction) {
  absl::Duration wait = policy.initial_backoff;
  for (int i = 1; i < attempt && wait < policy.max_backoff; ++i) wait *= policy.multiplier;
  wait = std::min(wait, policy.max_backoff);
  return wait * (1 + policy.jitter * (2 * fraction - 1));
}

absl::Status Validate(const TaskPolicy& policy) {
  const RetryPolicy& retry = policy.retry;
  if (retry.max_attempts < 1 || retry.max_attempts > RetryPolicy::kMaxAttempts) {
    return OutOfRange("retry.max_attempts", absl::StrCat("1 to ", RetryPolicy::kMaxAttempts),
                      absl::StrCat(retry.max_attempts));
  }
  // Written so that a NaN is refused too.
  if (!(retry.multiplier >= 1 && retry.multiplier <= RetryPolicy::kMaxMultiplier)) {
    return OutOfRange("retry.multiplier", absl::StrCat("1 to ", RetryPolicy::kMaxMultiplier),
                      absl::StrCat(retry.multiplier));
  }
  if (!(retry.jitter >= 0 && retry.jitter <= 1)) {
    return OutOfRange("retry.jitter", "0 to 1", absl::StrCat(retry.jitter));
  }
  const struct {
    absl::string_view field;
    absl::Duration span;
  } spans[] = {{"retry.initial_backoff", retry.initial_backoff},
               {"retry.max_backoff", retry.max_backoff},
               {"attempt_timeout", policy.attempt_timeout},
               {"queue_timeout", policy.queue_timeout}};
  for (const auto& [field, span] : spans) {
    if (absl::Status status = CheckSpan(field, span); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace jackdaw
