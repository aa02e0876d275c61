#include "tests/server/raw_http2.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/strip.h"
#include "absl/time/clock.h"

namespace jackdaw {
namespace {

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kHeadBytes = 9;

// A number in network order.
std::string Number(std::uint32_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(value >> shift & 0xff);
  }
  return text;
}

std::uint32_t ReadNumber(absl::string_view text) {
  std::uint32_t value = 0;
  for (const char byte : text) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

// A header in HPACK: literal, not indexed, not compressed.
std::string Header(const std::string& name, const std::string& value) {
  std::string text(1, '\0');
  for (const std::string& part : {name, value}) {
    text += static_cast<char>(part.size());  // Below 127.
    text += part;
  }
  return text;
}

}  // namespace

RawHttp2::RawHttp2(const std::string& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const absl::string_view path = absl::StripPrefix(address, "unix:");
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(send(socket_, kPreface.data(), kPreface.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(kPreface.size()));
  Send({kSettings, 0, 0, ""});
}

RawHttp2::~RawHttp2() { close(socket_); }

void RawHttp2::Send(const Frame& frame) {
  const std::string bytes = Number(static_cast<std::uint32_t>(frame.payload.size()), 3) +
                            Number(frame.type, 1) + Number(frame.flags, 1) +
                            Number(frame.stream, 4) + frame.payload;
  // The server may have hung up: the reader notices.
  (void)send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void RawHttp2::BeginCall(std::uint32_t stream, const std::string& method) {
  Send({kHeaders, kEndHeaders, stream,
        Header(":method", "POST") + Header(":scheme", "http") + Header(":path", method) +
            Header(":authority", "test") + Header("te", "trailers") +
            Header("content-type", "application/grpc")});
}

std::optional<RawHttp2::Frame> RawHttp2::Read(absl::Time deadline) {
  if (!Fill(kHeadBytes, deadline)) return std::nullopt;
  const absl::string_view head(buffer_.data(), kHeadBytes);
  const std::size_t size = ReadNumber(head.substr(0, 3));
  Frame frame{static_cast<std::uint8_t>(head[3]), static_cast<std::uint8_t>(head[4]),
              ReadNumber(head.substr(5, 4)), ""};
  if (!Fill(kHeadBytes + size, deadline)) return std::nullopt;
  frame.payload = buffer_.substr(kHeadBytes, size);
  buffer_.erase(0, kHeadBytes + size);
  return frame;
}

std::optional<RawHttp2::Frame> RawHttp2::ReadUntil(FrameType type, absl::Time deadline) {
  std::optional<Frame> frame;
  do {
    frame = Read(deadline);
  } while (frame.has_value() && frame->type != type);
  return frame;
}

bool RawHttp2::Fill(std::size_t size, absl::Time deadline) {
  while (buffer_.size() < size) {
    const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
    pollfd readable{socket_, POLLIN, 0};
    const int timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
    if (poll(&readable, 1, timeout_ms) <= 0) return false;
    char bytes[4096];
    const ssize_t got = recv(socket_, bytes, sizeof(bytes), 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
  return true;
}

int GrpcStatusIn(const RawHttp2::Frame& headers) {
  constexpr absl::string_view kName = "grpc-status";
  const std::size_t at = headers.payload.find(kName.data(), 0, kName.size());
  if (at == std::string::npos) return -1;
  const std::size_t length_at = at + kName.size();
  const auto length = static_cast<std::size_t>(headers.payload[length_at]);
  return std::stoi(headers.payload.substr(length_at + 1, length));
}

}  // namespace jackdaw
