// Errors as clients see them: a canonical code, a message for people, exactly one ErrorInfo
// for programs, and field paths, preconditions or a retry delay where they help. Inside the
// server an error is an absl::Status whose payloads are those details.
//
// Thread safety: free functions and values.

#ifndef JACKDAW_SERVER_ERRORS_H_
#define JACKDAW_SERVER_ERRORS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace google::rpc {
class Status;
}  // namespace google::rpc
namespace grpc {
class Status;
}  // namespace grpc

namespace jackdaw {

// Who defines the reasons of our errors.
inline constexpr char kErrorDomain[] = "jackdaw.dev";

using ErrorMetadata = std::vector<std::pair<std::string, std::string>>;

// `reason` is UPPER_SNAKE_CASE.
[[nodiscard]] absl::Status MakeError(absl::StatusCode code, absl::string_view message,
                                     absl::string_view reason, const ErrorMetadata& metadata = {});

// INVALID_ARGUMENT because of one field; `field` is its path, empty for the whole message.
[[nodiscard]] absl::Status FieldError(absl::string_view field, absl::string_view description,
                                      absl::string_view reason = "INVALID_FIELD",
                                      const ErrorMetadata& metadata = {});

// NOT_FOUND for the resource `name`.
[[nodiscard]] absl::Status NotFound(absl::string_view name, absl::string_view reason);

// FAILED_PRECONDITION: `subject` is not as it must be.
[[nodiscard]] absl::Status PreconditionError(absl::string_view subject,
                                             absl::string_view description,
                                             absl::string_view reason);

// `error` with the advice to try again after `delay`.
[[nodiscard]] absl::Status WithRetryDelay(absl::Status error, absl::Duration delay);

// Collects what is wrong with a request, so that its sender learns it all at once.
class Violations {
 public:
  static constexpr std::size_t kMaxReported = 20;

  // The first reason becomes the error's.
  void Add(std::string field, std::string description, absl::string_view reason = "INVALID_FIELD");
  void AddMetadata(std::string key, std::string value);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // Whether more would not be reported.
  [[nodiscard]] bool full() const { return count_ >= kMaxReported; }
  // OK if there are none, else INVALID_ARGUMENT.
  [[nodiscard]] absl::Status ToStatus() const;

 private:
  std::size_t count_ = 0;
  std::string reason_;
  std::vector<std::pair<std::string, std::string>> reported_;
  ErrorMetadata metadata_;
};

// For the wire. One without ErrorInfo gets one whose reason is its code's name.
[[nodiscard]] grpc::Status ToGrpc(const absl::Status& status);
// For messages that hold an error. Not for OK.
void ToProto(const absl::Status& status, google::rpc::Status* proto);

// "INVALID_ARGUMENT".
[[nodiscard]] std::string CodeName(absl::StatusCode code);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_ERRORS_H_
