#include "server/rpc/wire.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/errors.h"
#include "server/utf8.h"

namespace jackdaw {
namespace {

namespace pb = google::protobuf;
using pb::internal::WireFormatLite;

constexpr int kMaxDepth = 100;  // As protobuf's own parser.

// Walks the wire format along the descriptors until something is wrong.
class FaultFinder {
 public:
  std::optional<ParseFault> Find(const pb::Descriptor& type, absl::string_view bytes,
                                 const std::string& path, int depth) {
    if (depth > kMaxDepth) return Fault(path, absl::StrCat("nested deeper than ", kMaxDepth));
    pb::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                static_cast<int>(bytes.size()));
    std::map<int, int> seen;
    while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
      const std::uint32_t tag = in.ReadTag();
      const int number = WireFormatLite::GetTagFieldNumber(tag);
      if (tag == 0 || number == 0) return Fault(path, "not a protobuf message: bad field tag");
      const pb::FieldDescriptor* field = type.FindFieldByNumber(number);
      const std::string at = PathOf(path, field, number, seen);
      if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&in, tag)) return Fault(at, "the value is cut short");
        continue;
      }
      std::uint32_t length = 0;
      const bool has_length = in.ReadVarint32(&length);
      const auto start = static_cast<std::size_t>(in.CurrentPosition());
      if (!has_length || length > bytes.size() - start) {
        return Fault(at, "the value is cut short");
      }
      in.Skip(static_cast<int>(length));
      if (field == nullptr) continue;
      if (auto fault = Inside(*field, bytes.substr(start, length), at, depth)) return fault;
    }
    return std::nullopt;
  }

 private:
  static ParseFault Fault(const std::string& path, std::string description) {
    return {path, std::move(description)};
  }

  static std::string PathOf(const std::string& path, const pb::FieldDescriptor* field, int number,
                            std::map<int, int>& seen) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (field == nullptr) return absl::StrCat(prefix, number);
    if (!field->is_repeated()) return absl::StrCat(prefix, field->name());
    return absl::StrCat(prefix, field->name(), "[", seen[number]++, "]");
  }

  std::optional<ParseFault> Inside(const pb::FieldDescriptor& field, absl::string_view value,
                                   const std::string& at, int depth) {
    if (field.type() == pb::FieldDescriptor::TYPE_STRING && !IsUtf8(value)) {
      return Fault(at, "the text is not valid UTF-8");
    }
    if (field.type() == pb::FieldDescriptor::TYPE_MESSAGE) {
      return Find(*field.message_type(), value, at, depth + 1);
    }
    return std::nullopt;
  }
};

}  // namespace

ParseFault FindParseFault(const pb::Descriptor& type, absl::string_view bytes) {
  FaultFinder finder;
  if (auto fault = finder.Find(type, bytes, "", 0)) return *fault;
  return {"", "not a protobuf message of this type"};
}

absl::Status Parse(const grpc::ByteBuffer& buffer, pb::Message* message) {
  // The reader only reads; its interface wants a buffer that is not const.
  auto* source = const_cast<grpc::ByteBuffer*>(&buffer);
  {
    grpc::ProtoBufferReader reader(source);
    if (reader.status().ok() && message->ParseFromZeroCopyStream(&reader)) {
      return absl::OkStatus();
    }
  }
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (buffer.Dump(&slices).ok()) {
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  const ParseFault fault = FindParseFault(*message->GetDescriptor(), bytes);
  return FieldError(fault.field,
                    absl::StrCat("does not parse as ", message->GetDescriptor()->full_name(), ": ",
                                 fault.description),
                    "MALFORMED_MESSAGE");
}

grpc::ByteBuffer Serialize(const pb::Message& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

std::string SerializeDeterministically(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace jackdaw
