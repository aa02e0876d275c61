// Call: one call under way, as the coroutine that answers it sees it. Messages are parsed
// and serialised here, so that one class serves every method.
//
// Thread safety: one coroutine uses it. That may run on the queue's thread or on a worker,
// one after the other, never on both at once.
//
// Life: the coroutine holds it, and so does gRPC until it has told that the call is over.

#ifndef JACKDAW_SERVER_RPC_CALL_H_
#define JACKDAW_SERVER_RPC_CALL_H_

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/errors.h"
#include "server/rpc/event.h"
#include "server/rpc/queue.h"
#include "server/rpc/rpc_counters.h"
#include "server/rpc/signal.h"
#include "server/rpc/wire.h"

namespace jackdaw {

// Whether the client's end is on this machine: a Unix socket or a loopback address.
[[nodiscard]] bool IsLocalPeer(absl::string_view peer);

class Call {
 public:
  enum class Requests { kOne, kMany };  // How many the client sends.
  enum class Burst { kLast, kMore };    // Whether another message follows at once.

  Call(RpcQueue& queue, RpcCounters::Method& counters, Requests requests);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The one request. INVALID_ARGUMENT with a field path if it does not parse.
  absl::Status ParseRequest(google::protobuf::Message* request) const {
    return Parse(request_, request);
  }
  [[nodiscard]] bool from_this_machine() const { return IsLocalPeer(context_.peer()); }
  [[nodiscard]] RpcQueue& queue() const { return queue_; }
  // Raised with kGone when the client left or the server ends. Only for streams.
  [[nodiscard]] const std::shared_ptr<Signal>& signal() const { return signal_; }
  [[nodiscard]] RpcCounters::Method& counters() const { return counters_; }

  // Each of these is awaited before the next one begins. `ok` is false when the call is over:
  // the client is gone and nothing more can be said but Finish().

  // The next request of many; false when the client sent its last.
  auto Read(grpc::ByteBuffer* buffer) {
    return Operation([this, buffer](void* tag) { StartRead(buffer, tag); });
  }
  auto Write(const google::protobuf::Message& message, Burst burst = Burst::kLast) {
    return Operation(
        [this, buffer = Serialize(message), burst](void* tag) { StartWrite(buffer, burst, tag); });
  }
  // The last message and OK, in one.
  auto WriteAndFinish(const google::protobuf::Message& message) {
    return Operation(
        [this, buffer = Serialize(message)](void* tag) { StartWriteAndFinish(buffer, tag); });
  }
  auto Finish(const absl::Status& status) {
    return Operation([this, status](void* tag) { StartFinish(status, tag); });
  }

 private:
  friend class RpcService;

  void StartRead(grpc::ByteBuffer* buffer, void* tag);
  void StartWrite(const grpc::ByteBuffer& buffer, Burst burst, void* tag);
  void StartWriteAndFinish(const grpc::ByteBuffer& buffer, void* tag);
  void StartFinish(const absl::Status& status, void* tag);

  RpcQueue& queue_;
  RpcCounters::Method& counters_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  std::optional<grpc::ServerAsyncWriter<grpc::ByteBuffer>> writer_;
  std::optional<grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
  std::shared_ptr<Signal> signal_;
  bool wrote_ = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_CALL_H_
