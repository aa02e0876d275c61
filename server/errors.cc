#include "server/errors.h"

#include <google/protobuf/util/time_util.h>
#include <grpcpp/support/status.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace jackdaw {
namespace {

std::string TypeUrl(const google::protobuf::Message& detail) {
  return absl::StrCat("type.googleapis.com/", detail.GetDescriptor()->full_name());
}

void Attach(const google::protobuf::Message& detail, absl::Status* status) {
  status->SetPayload(TypeUrl(detail), absl::Cord(detail.SerializeAsString()));
}

// Protobuf refuses to send text that is not UTF-8, and gRPC a message of any length.
std::string Presentable(absl::string_view text) {
  constexpr std::size_t kMaxMessageBytes = 4096;
  std::string out(text.substr(0, kMaxMessageBytes));
  if (out.size() < text.size()) {
    // Not in the middle of a character.
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    out += "...";
  }
  return out;
}

}  // namespace

absl::Status MakeError(absl::StatusCode code, absl::string_view message, absl::string_view reason,
                       const ErrorMetadata& metadata) {
  absl::Status status(code, message);
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : metadata) (*info.mutable_metadata())[key] = value;
  Attach(info, &status);
  return status;
}

absl::Status FieldError(absl::string_view field, absl::string_view description,
                        absl::string_view reason, const ErrorMetadata& metadata) {
  Violations violations;
  violations.Add(std::string(field), std::string(description), reason);
  for (const auto& [key, value] : metadata) violations.AddMetadata(key, value);
  return violations.ToStatus();
}

absl::Status NotFound(absl::string_view name, absl::string_view reason) {
  return MakeError(absl::StatusCode::kNotFound, absl::StrCat("there is no ", name), reason,
                   {{"resource", std::string(name)}});
}

absl::Status PreconditionError(absl::string_view subject, absl::string_view description,
                               absl::string_view reason) {
  absl::Status status = MakeError(absl::StatusCode::kFailedPrecondition,
                                  absl::StrCat(subject, ": ", description), reason);
  google::rpc::PreconditionFailure failure;
  auto* violation = failure.add_violations();
  violation->set_type(std::string(reason));
  violation->set_subject(std::string(subject));
  violation->set_description(std::string(description));
  Attach(failure, &status);
  return status;
}

absl::Status WithRetryDelay(absl::Status error, absl::Duration delay) {
  google::rpc::RetryInfo info;
  *info.mutable_retry_delay() =
      google::protobuf::util::TimeUtil::MillisecondsToDuration(absl::ToInt64Milliseconds(delay));
  Attach(info, &error);
  return error;
}

void Violations::Add(std::string field, std::string description, absl::string_view reason) {
  if (count_++ == 0) reason_ = std::string(reason);
  if (reported_.size() < kMaxReported) {
    reported_.emplace_back(std::move(field), std::move(description));
  }
}

void Violations::AddMetadata(std::string key, std::string value) {
  metadata_.emplace_back(std::move(key), std::move(value));
}

absl::Status Violations::ToStatus() const {
  if (empty()) return absl::OkStatus();
  const auto& [field, description] = reported_.front();
  std::string message = field.empty() ? description : absl::StrCat(field, ": ", description);
  if (count_ > 1) {
    absl::StrAppend(&message, " (and ", count_ - 1, " more)");
  }
  absl::Status status =
      MakeError(absl::StatusCode::kInvalidArgument, Presentable(message), reason_, metadata_);
  google::rpc::BadRequest bad;
  for (const auto& [f, d] : reported_) {
    auto* violation = bad.add_field_violations();
    violation->set_field(f);
    violation->set_description(Presentable(d));
  }
  Attach(bad, &status);
  return status;
}

void ToProto(const absl::Status& status, google::rpc::Status* proto) {
  proto->set_code(static_cast<int>(status.code()));
  proto->set_message(Presentable(status.message()));
  bool has_info = false;
  const std::string info_url = TypeUrl(google::rpc::ErrorInfo::default_instance());
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    auto* detail = proto->add_details();
    detail->set_type_url(std::string(url));
    detail->set_value(std::string(payload));
    has_info |= url == info_url;
  });
  if (has_info) return;
  google::rpc::ErrorInfo info;
  info.set_reason(CodeName(status.code()));
  info.set_domain(kErrorDomain);
  proto->add_details()->PackFrom(info);
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status proto;
  ToProto(status, &proto);
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), proto.message(),
                      proto.SerializeAsString());
}

std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

}  // namespace jackdaw
