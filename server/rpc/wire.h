// Messages to and from gRPC's buffers. We parse ourselves instead of leaving it to gRPC,
// which answers bytes that do not parse with INTERNAL and not a word on where they break.

#ifndef JACKDAW_SERVER_RPC_WIRE_H_
#define JACKDAW_SERVER_RPC_WIRE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace grpc {
class ByteBuffer;
}  // namespace grpc
namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace jackdaw {

// Fills `message`. INVALID_ARGUMENT with the path of the first field that does not parse,
// or whose text is not UTF-8.
absl::Status Parse(const grpc::ByteBuffer& buffer, google::protobuf::Message* message);

[[nodiscard]] grpc::ByteBuffer Serialize(const google::protobuf::Message& message);

// The same bytes for messages that say the same, whatever the order of their maps.
[[nodiscard]] std::string SerializeDeterministically(const google::protobuf::Message& message);

// Where `bytes`, which do not parse as a message of type `type`, break, and how.
struct ParseFault {
  std::string field;  // `job.tasks[3].task_id`; empty: at the top.
  std::string description;
};
[[nodiscard]] ParseFault FindParseFault(const google::protobuf::Descriptor& type,
                                        absl::string_view bytes);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_WIRE_H_
