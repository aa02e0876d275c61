#include "server/policy_convert.h"

#include "absl/strings/str_cat.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/policy.pb.h"
#include "jackdaw/v1/task.pb.h"

namespace jackdaw {
namespace {

constexpr std::size_t kMaxDisplayNameBytes = 256;
constexpr int kMaxLabels = 64;
constexpr std::size_t kMaxLabelKeyBytes = 63;
constexpr std::size_t kMaxLabelValueBytes = 255;

// Zero, and a violation, if it is not 0 to 365 days.
absl::Duration ToSpan(const google::protobuf::Duration& span, const std::string& path,
                      Violations* violations) {
  const absl::Duration value =
      absl::Seconds(span.seconds()) + absl::Nanoseconds(std::int64_t{span.nanos()});
  if (value >= absl::ZeroDuration() && value <= TaskPolicy::kMaxSpan) return value;
  violations->Add(path,
                  absl::StrCat("must be 0 to 365 days, was ", span.seconds(), " s",
                               span.nanos() == 0 ? "" : absl::StrCat(" ", span.nanos(), " ns")));
  return absl::ZeroDuration();
}

void UnknownValue(const std::string& path, int value, Violations* violations) {
  violations->Add(path, absl::StrCat("is not a known value: ", value));
}

Priority ToPriority(v1::Priority priority, Priority unspecified, const std::string& path,
                    Violations* violations) {
  switch (priority) {
    case v1::PRIORITY_UNSPECIFIED:
      return unspecified;
    case v1::PRIORITY_LOW:
      return Priority::kLow;
    case v1::PRIORITY_NORMAL:
      return Priority::kNormal;
    case v1::PRIORITY_HIGH:
      return Priority::kHigh;
    default:
      UnknownValue(path, priority, violations);
      return unspecified;
  }
}

RunIf ToRunIf(v1::RunIf run_if, const std::string& path, Violations* violations) {
  switch (run_if) {
    case v1::RUN_IF_UNSPECIFIED:
    case v1::RUN_IF_ALL_SUCCEEDED:
      return RunIf::kAllSucceeded;
    case v1::RUN_IF_ALL_DONE:
      return RunIf::kAllDone;
    case v1::RUN_IF_ANY_FAILED:
      return RunIf::kAnyFailed;
    default:
      UnknownValue(path, run_if, violations);
      return RunIf::kAllSucceeded;
  }
}

void CheckRange(double value, double low, double high, const std::string& path,
                Violations* violations) {
  // Written so that a NaN is refused too.
  if (!(value >= low && value <= high)) {
    violations->Add(path, absl::StrCat("must be ", low, " to ", high, ", was ", value));
  }
}

void ToRetryPolicy(const v1::RetryPolicy& proto, const std::string& path, RetryPolicy* retry,
                   Violations* violations) {
  if (proto.max_attempts() != 0) {
    CheckRange(proto.max_attempts(), 1, RetryPolicy::kMaxAttempts, path + ".max_attempts",
               violations);
    retry->max_attempts = proto.max_attempts();
  }
  if (proto.has_initial_backoff()) {
    retry->initial_backoff = ToSpan(proto.initial_backoff(), path + ".initial_backoff", violations);
  }
  if (proto.has_max_backoff()) {
    retry->max_backoff = ToSpan(proto.max_backoff(), path + ".max_backoff", violations);
  }
  if (proto.has_multiplier()) {
    CheckRange(proto.multiplier(), 1, RetryPolicy::kMaxMultiplier, path + ".multiplier",
               violations);
    retry->multiplier = proto.multiplier();
  }
  if (proto.has_jitter()) {
    CheckRange(proto.jitter(), 0, 1, path + ".jitter", violations);
    retry->jitter = proto.jitter();
  }
  for (int i = 0; i < proto.codes_size(); ++i) {
    if (proto.codes(i) == google::rpc::OK || !google::rpc::Code_IsValid(proto.codes(i))) {
      violations->Add(absl::StrCat(path, ".codes[", i, "]"),
                      absl::StrCat("is not the code of an error: ", proto.codes(i)));
      return;
    }
    retry->codes.push_back(static_cast<absl::StatusCode>(proto.codes(i)));
  }
}

}  // namespace

void CheckLabels(const std::string& path,
                 const google::protobuf::Map<std::string, std::string>& labels,
                 Violations* violations) {
  if (labels.size() > kMaxLabels) {
    violations->Add(path,
                    absl::StrCat("has ", labels.size(), " entries; the limit is ", kMaxLabels));
  }
  for (const auto& [key, value] : labels) {
    if (key.empty() || key.size() > kMaxLabelKeyBytes || value.size() > kMaxLabelValueBytes) {
      violations->Add(
          absl::StrCat(path, "[\"", key.substr(0, kMaxLabelKeyBytes), "\"]"),
          absl::StrCat("keys must be 1 to ", kMaxLabelKeyBytes, " bytes and values at most ",
                       kMaxLabelValueBytes, ", were ", key.size(), " and ", value.size()));
      return;
    }
  }
}

void ToJobOptions(const v1::Job& job, JobOptions* options, Violations* violations) {
  if (job.display_name().size() > kMaxDisplayNameBytes) {
    violations->Add("job.display_name",
                    absl::StrCat("has ", job.display_name().size(), " bytes; the limit is ",
                                 kMaxDisplayNameBytes));
  }
  CheckLabels("job.labels", job.labels(), violations);
  options->priority = ToPriority(job.priority(), Priority::kNormal, "job.priority", violations);
  if (job.has_timeout()) options->timeout = ToSpan(job.timeout(), "job.timeout", violations);
  if (job.has_open_idle_timeout()) {
    ToSpan(job.open_idle_timeout(), "job.open_idle_timeout", violations);
  }
  if (!v1::FailurePolicy_IsValid(job.failure_policy())) {
    UnknownValue("job.failure_policy", job.failure_policy(), violations);
  }
  options->failure_policy = job.failure_policy() == v1::FAILURE_POLICY_FAIL_FAST
                                ? FailurePolicy::kFailFast
                                : FailurePolicy::kContinue;
}

TaskPolicy ToPolicy(const v1::Task& task, Priority priority, const std::string& path,
                    Violations* violations) {
  TaskPolicy policy;
  policy.run_if = ToRunIf(task.run_if(), path + ".run_if", violations);
  policy.priority = ToPriority(task.priority(), priority, path + ".priority", violations);
  if (task.has_retry_policy()) {
    ToRetryPolicy(task.retry_policy(), path + ".retry_policy", &policy.retry, violations);
  }
  if (task.has_attempt_timeout()) {
    policy.attempt_timeout = ToSpan(task.attempt_timeout(), path + ".attempt_timeout", violations);
  }
  if (task.has_queue_timeout()) {
    policy.queue_timeout = ToSpan(task.queue_timeout(), path + ".queue_timeout", violations);
  }
  return policy;
}

}  // namespace jackdaw
