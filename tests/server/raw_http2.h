// RawHttp2: an HTTP/2 connection by hand, for what no well-behaved client does: pings at any
// pace, messages that are cut in the middle.
//
// Thread safety: none.

#ifndef JACKDAW_TESTS_SERVER_RAW_HTTP2_H_
#define JACKDAW_TESTS_SERVER_RAW_HTTP2_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jackdaw {

class RawHttp2 {
 public:
  enum FrameType : std::uint8_t {
    kData = 0,
    kHeaders = 1,
    kResetStream = 3,
    kSettings = 4,
    kPing = 6,
    kGoAway = 7
  };
  static constexpr std::uint8_t kAck = 1;        // Of settings and pings.
  static constexpr std::uint8_t kEndStream = 1;  // Of data and headers.
  static constexpr std::uint8_t kEndHeaders = 4;

  struct Frame {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
    std::string payload;
  };

  // Connects to `address`, unix:path, and says hello.
  explicit RawHttp2(const std::string& address);
  // Hangs up.
  ~RawHttp2();
  RawHttp2(const RawHttp2&) = delete;
  RawHttp2& operator=(const RawHttp2&) = delete;

  void Send(const Frame& frame);
  // Begins the call of `method`, `/service/method`, on a stream of an odd number.
  void BeginCall(std::uint32_t stream, const std::string& method);

  // The next frame. Nothing if none comes until `deadline`, or the server hung up.
  std::optional<Frame> Read(absl::Time deadline);
  // Reads past other frames until one of `type` comes, or nothing, as Read().
  std::optional<Frame> ReadUntil(FrameType type, absl::Time deadline);

 private:
  // Fills the buffer up to `size` bytes. False as Read().
  bool Fill(std::size_t size, absl::Time deadline);

  int socket_ = -1;
  std::string buffer_;  // Received and not yet taken.
};

// The status code in a frame of headers that ends a call, as gRPC writes them: neither
// compressed nor, on a connection's first call, known from earlier. -1: there is none.
[[nodiscard]] int GrpcStatusIn(const RawHttp2::Frame& headers);

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SERVER_RAW_HTTP2_H_
