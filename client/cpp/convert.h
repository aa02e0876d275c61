// Between the wire's types and ours. Pure functions.

#ifndef JACKDAW_CLIENT_CPP_CONVERT_H_
#define JACKDAW_CLIENT_CPP_CONVERT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::client {

// Rounds towards zero to a nanosecond. An endless one becomes the longest there is.
[[nodiscard]] google::protobuf::Duration ToProto(absl::Duration duration);
[[nodiscard]] absl::Duration FromProto(const google::protobuf::Duration& duration);
[[nodiscard]] absl::Time FromProto(const google::protobuf::Timestamp& time);

[[nodiscard]] bool IsTerminal(v1::Job::State state);
[[nodiscard]] bool IsTerminal(v1::Task::State state);

// `jobs/{job}` of "{job}" or "jobs/{job}".
[[nodiscard]] std::string JobName(absl::string_view job);
// `jobs/{job}/tasks/{task}`; `task` may be such a name already.
[[nodiscard]] std::string TaskName(absl::string_view job, absl::string_view task);
// What stands after the last slash.
[[nodiscard]] absl::string_view LastPart(absl::string_view name);

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_CONVERT_H_
