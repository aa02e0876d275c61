// What went wrong in a call, as an absl::Status that tells a person what to do: the
// server's message, the field it is about, and the reason for programs.
//
// The details that the server sent stay on the status as payloads, keyed by type URL
// (`type.googleapis.com/google.rpc.ErrorInfo`, ...).

#ifndef JACKDAW_CLIENT_CPP_ERRORS_H_
#define JACKDAW_CLIENT_CPP_ERRORS_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"

namespace jackdaw::client {

// `address` is where the call went: it stands in the message where the server could not be
// reached or does not speak gRPC (FAILED_PRECONDITION: another attempt would not help).
[[nodiscard]] absl::Status FromGrpc(const grpc::Status& status, absl::string_view address);

// A status as it stands in jobs and tasks.
[[nodiscard]] absl::Status FromProto(const google::rpc::Status& status);

// Whether FromGrpc() found that the other side does not speak gRPC.
[[nodiscard]] bool IsNotGrpc(const absl::Status& status);

// ErrorInfo's reason, such as `TASK_NOT_FOUND`. Empty if the server gave none.
[[nodiscard]] std::string ErrorReason(const absl::Status& status);

// BadRequest's field paths, such as `job.tasks[3].after[0]`.
[[nodiscard]] std::vector<std::string> ErrorFields(const absl::Status& status);

// How long the server asks to wait before another attempt.
[[nodiscard]] std::optional<absl::Duration> RetryDelay(const absl::Status& status);

// Whether `message` of a failed call is gRPC's way of saying that the other side answered
// in another protocol: an HTTP/1 server, or a proxy's HTML page taken for a message.
[[nodiscard]] bool LooksLikeNotGrpc(grpc::StatusCode code, absl::string_view message);

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_ERRORS_H_
