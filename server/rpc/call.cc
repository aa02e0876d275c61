#include "server/rpc/call.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace jackdaw {

bool IsLocalPeer(absl::string_view peer) {
  if (absl::ConsumePrefix(&peer, "ipv4:")) return absl::StartsWith(peer, "127.");
  if (absl::ConsumePrefix(&peer, "ipv6:")) {
    // gRPC writes the brackets as they are or percent-encoded.
    if (!absl::ConsumePrefix(&peer, "[")) absl::ConsumePrefix(&peer, "%5B");
    return absl::StartsWith(peer, "::1]") || absl::StartsWith(peer, "::1%5D") ||
           absl::StartsWith(peer, "::ffff:127.");
  }
  return absl::StartsWith(peer, "unix:") || absl::StartsWith(peer, "unix-abstract:");
}

Call::Call(RpcQueue& queue, RpcCounters::Method& counters, Requests requests)
    : queue_(queue), counters_(counters) {
  if (requests == Requests::kOne) {
    writer_.emplace(&context_);
  } else {
    stream_.emplace(&context_);
  }
  queue_.Hold();
}

Call::~Call() { queue_.Release(); }

void Call::StartRead(grpc::ByteBuffer* buffer, void* tag) { stream_->Read(buffer, tag); }

void Call::StartWrite(const grpc::ByteBuffer& buffer, Burst burst, void* tag) {
  grpc::WriteOptions options;
  // Not on the first: gRPC 1.51 holds back the initial metadata with it and never sends.
  if (burst == Burst::kMore && wrote_) options.set_buffer_hint();
  wrote_ = true;
  if (writer_.has_value()) {
    writer_->Write(buffer, options, tag);
  } else {
    stream_->Write(buffer, options, tag);
  }
}

void Call::StartWriteAndFinish(const grpc::ByteBuffer& buffer, void* tag) {
  counters_.Count(absl::StatusCode::kOk);
  if (writer_.has_value()) {
    writer_->WriteAndFinish(buffer, grpc::WriteOptions(), grpc::Status::OK, tag);
  } else {
    stream_->WriteAndFinish(buffer, grpc::WriteOptions(), grpc::Status::OK, tag);
  }
}

void Call::StartFinish(const absl::Status& status, void* tag) {
  counters_.Count(status.code());
  if (writer_.has_value()) {
    writer_->Finish(ToGrpc(status), tag);
  } else {
    stream_->Finish(ToGrpc(status), tag);
  }
}

}  // namespace jackdaw
