#include "client/cpp/errors.h"

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/convert.h"
#include "google/rpc/error_details.pb.h"

namespace jackdaw::client {
namespace {

constexpr char kNotGrpcUrl[] = "jackdaw.dev/not-grpc";

// The detail of type T, if the status carries one.
template <typename T>
std::optional<T> Detail(const absl::Status& status) {
  const std::string url =
      absl::StrCat("type.googleapis.com/", std::string(T::descriptor()->full_name()));
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  T detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

// A message length whose bytes are letters: the beginning of a page, not of a message.
bool IsText(std::uint32_t length) {
  for (int shift = 0; shift < 32; shift += 8) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(length >> shift))) return false;
  }
  return true;
}

bool IsPageTakenForAMessage(absl::string_view message) {
  constexpr absl::string_view kStart = "larger than max (";
  const std::size_t start = message.find(kStart);
  if (start == absl::string_view::npos) return false;
  absl::string_view number = message.substr(start + kStart.size());
  number = number.substr(0, number.find(' '));
  std::uint32_t length = 0;
  return absl::SimpleAtoi(number, &length) && IsText(length);
}

absl::Status NotGrpc(const grpc::Status& status, absl::string_view address) {
  absl::Status error = absl::FailedPreconditionError(
      absl::StrCat(address,
                   " is not a gRPC endpoint: it answered in another protocol, as a web "
                   "server or a proxy with an HTML page would. Check the address and what stands "
                   "in between. (",
                   status.error_message(), ")"));
  error.SetPayload(kNotGrpcUrl, absl::Cord());
  return error;
}

// Adds what the message does not say already.
std::string WithFieldAndReason(const absl::Status& status) {
  std::string text(status.message());
  if (const auto bad = Detail<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) {
      if (absl::StrContains(text, violation.field())) continue;
      absl::StrAppend(&text, "\n  ", violation.field(), ": ", violation.description());
    }
  }
  const std::string reason = ErrorReason(status);
  if (!reason.empty() && !absl::StrContains(text, reason))
    absl::StrAppend(&text, " [", reason, "]");
  return text;
}

absl::Status WithDetails(absl::StatusCode code, absl::string_view message,
                         const google::rpc::Status& details) {
  absl::Status bare(code, message);
  for (const auto& any : details.details())
    bare.SetPayload(any.type_url(), absl::Cord(any.value()));
  absl::Status full(code, WithFieldAndReason(bare));
  bare.ForEachPayload(
      [&full](absl::string_view url, const absl::Cord& value) { full.SetPayload(url, value); });
  return full;
}

}  // namespace

bool LooksLikeNotGrpc(grpc::StatusCode code, absl::string_view message) {
  if (absl::StrContains(message, "http1.x server") ||
      absl::StrContains(message, "Bad GRPC frame type 0x3c") ||
      absl::StrContains(message, "Bad GRPC frame type 60")) {
    return true;
  }
  // An answer that ended well for HTTP but told no gRPC status: a page with ":status: 200".
  if (code == grpc::StatusCode::UNKNOWN && message == "Stream removed") return true;
  if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) return IsPageTakenForAMessage(message);
  return absl::StrContains(message, "Received http2 header with status");
}

absl::Status FromGrpc(const grpc::Status& status, absl::string_view address) {
  if (status.ok()) return absl::OkStatus();
  if (LooksLikeNotGrpc(status.error_code(), status.error_message())) {
    return NotGrpc(status, address);
  }
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details()) &&
      !details.details().empty()) {
    return WithDetails(code, status.error_message(), details);
  }
  if (code == absl::StatusCode::kUnavailable) {
    return absl::UnavailableError(
        absl::StrCat("no answer from ", address, ": ", status.error_message()));
  }
  return absl::Status(code, status.error_message());
}

absl::Status FromProto(const google::rpc::Status& status) {
  if (status.code() == 0) return absl::OkStatus();
  return WithDetails(static_cast<absl::StatusCode>(status.code()), status.message(), status);
}

bool IsNotGrpc(const absl::Status& status) { return status.GetPayload(kNotGrpcUrl).has_value(); }

std::string ErrorReason(const absl::Status& status) {
  const auto info = Detail<google::rpc::ErrorInfo>(status);
  return info.has_value() ? info->reason() : "";
}

std::vector<std::string> ErrorFields(const absl::Status& status) {
  std::vector<std::string> fields;
  if (const auto bad = Detail<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) fields.push_back(violation.field());
  }
  return fields;
}

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  const auto info = Detail<google::rpc::RetryInfo>(status);
  if (!info.has_value()) return std::nullopt;
  return FromProto(info->retry_delay());
}

}  // namespace jackdaw::client
