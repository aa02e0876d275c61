#include "scheduler/graph/policy.h"

#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"

namespace jackdaw {
namespace {

using testing::HasSubstr;

std::string Refusal(const std::function<void(TaskPolicy&)>& spoil) {
  TaskPolicy policy;
  spoil(policy);
  const absl::Status status = Validate(policy);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(PolicyTest, DefaultIsValid) { EXPECT_TRUE(Validate(TaskPolicy()).ok()); }

TEST(PolicyTest, RefusalNamesFieldLimitAndValue) {
  EXPECT_EQ(Refusal([](TaskPolicy& p) { p.retry.max_attempts = 1001; }),
            "retry.max_attempts must be 1 to 1000, was 1001");
  EXPECT_EQ(Refusal([](TaskPolicy& p) { p.retry.multiplier = 0.5; }),
            "retry.multiplier must be 1 to 100, was 0.5");
  EXPECT_EQ(Refusal([](TaskPolicy& p) { p.retry.jitter = 2; }),
            "retry.jitter must be 0 to 1, was 2");
  EXPECT_EQ(Refusal([](TaskPolicy& p) { p.attempt_timeout = absl::Seconds(-1); }),
            "attempt_timeout must be 0 to 8760h, was -1s");
  EXPECT_THAT(Refusal([](TaskPolicy& p) { p.queue_timeout = absl::InfiniteDuration(); }),
              HasSubstr("queue_timeout must be"));
  EXPECT_THAT(Refusal([](TaskPolicy& p) { p.retry.initial_backoff = -absl::Nanoseconds(1); }),
              HasSubstr("retry.initial_backoff must be"));
  EXPECT_THAT(Refusal([](TaskPolicy& p) { p.retry.max_backoff = absl::Hours(9000); }),
              HasSubstr("retry.max_backoff must be"));
}

TEST(PolicyTest, NumberThatIsNoneIsRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Refusal([](TaskPolicy& p) { p.retry.multiplier = kNan; }), HasSubstr("multiplier"));
  EXPECT_THAT(Refusal([](TaskPolicy& p) { p.retry.jitter = kNan; }), HasSubstr("jitter"));
}

TEST(PolicyTest, ByDefaultOnlyFailuresThatMayPassAreRetried) {
  const RetryPolicy policy;
  EXPECT_TRUE(IsRetryable(policy, absl::StatusCode::kUnavailable));
  EXPECT_TRUE(IsRetryable(policy, absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(IsRetryable(policy, absl::StatusCode::kUnknown));
  for (const absl::StatusCode code :
       {absl::StatusCode::kOk, absl::StatusCode::kInvalidArgument, absl::StatusCode::kNotFound,
        absl::StatusCode::kAlreadyExists, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kUnauthenticated, absl::StatusCode::kFailedPrecondition,
        absl::StatusCode::kOutOfRange, absl::StatusCode::kUnimplemented,
        absl::StatusCode::kCancelled}) {
    EXPECT_FALSE(IsRetryable(policy, code)) << absl::StatusCodeToString(code);
  }
}

TEST(PolicyTest, ListOfCodesReplacesTheDefaultButNeverRetriesSuccess) {
  RetryPolicy policy;
  policy.codes = {absl::StatusCode::kNotFound, absl::StatusCode::kOk};
  EXPECT_TRUE(IsRetryable(policy, absl::StatusCode::kNotFound));
  EXPECT_FALSE(IsRetryable(policy, absl::StatusCode::kUnavailable));
  EXPECT_FALSE(IsRetryable(policy, absl::StatusCode::kOk));
}

TEST(PolicyTest, BackoffGrowsToItsBoundAndJitterScalesIt) {
  RetryPolicy policy;
  policy.initial_backoff = absl::Seconds(1);
  policy.max_backoff = absl::Seconds(5);
  policy.jitter = 0.5;
  EXPECT_EQ(Backoff(policy, 1, 0.5), absl::Seconds(1));
  EXPECT_EQ(Backoff(policy, 2, 0.5), absl::Seconds(2));
  EXPECT_EQ(Backoff(policy, 3, 0.5), absl::Seconds(4));
  EXPECT_EQ(Backoff(policy, 4, 0.5), absl::Seconds(5));
  EXPECT_EQ(Backoff(policy, 1000, 0.5), absl::Seconds(5));
  EXPECT_EQ(Backoff(policy, 1, 0), absl::Milliseconds(500));
  EXPECT_EQ(Backoff(policy, 2, 0.75), absl::Milliseconds(2500));
}

}  // namespace
}  // namespace jackdaw
