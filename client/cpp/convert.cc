#include "client/cpp/convert.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace jackdaw::client {
namespace {

constexpr std::int64_t kMaxDurationSeconds = 315'576'000'000;  // duration.proto's own limit.

}  // namespace

google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration proto;
  absl::Duration rest;
  const std::int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &rest);
  if (seconds >= kMaxDurationSeconds || seconds <= -kMaxDurationSeconds) {
    proto.set_seconds(seconds > 0 ? kMaxDurationSeconds : -kMaxDurationSeconds);
    return proto;
  }
  proto.set_seconds(seconds);
  proto.set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

bool IsTerminal(v1::Job::State state) {
  return state == v1::Job::STATE_SUCCEEDED || state == v1::Job::STATE_FAILED ||
         state == v1::Job::STATE_CANCELLED;
}

bool IsTerminal(v1::Task::State state) {
  return state == v1::Task::STATE_SUCCEEDED || state == v1::Task::STATE_FAILED ||
         state == v1::Task::STATE_CANCELLED || state == v1::Task::STATE_SKIPPED;
}

std::string JobName(absl::string_view job) {
  return absl::StartsWith(job, "jobs/") ? std::string(job) : absl::StrCat("jobs/", job);
}

std::string TaskName(absl::string_view job, absl::string_view task) {
  if (absl::StartsWith(task, "jobs/")) return std::string(task);
  return absl::StrCat(JobName(job), "/tasks/", task);
}

absl::string_view LastPart(absl::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? name : name.substr(slash + 1);
}

}  // namespace jackdaw::client
