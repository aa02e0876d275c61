// Endpoints that are not gRPC: a web server, and a proxy whose HTML page arrives where a
// message should be.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/errors.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

// Answers every connection on a loopback port with the same bytes, once the client has sent
// `awaited`, then closes it.
class CannedServer {
 public:
  struct Script {
    std::string greeting;  // Sent at once.
    std::string awaited;
    std::string answer;
  };

  explicit CannedServer(Script script) : script_(std::move(script)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_, 16);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~CannedServer() {
    stop_ = true;
    thread_.join();
    close(listener_);
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  void Serve() {
    while (!stop_) {
      pollfd fd{listener_, POLLIN, 0};
      if (poll(&fd, 1, 10) <= 0) continue;
      const int connection = accept(listener_, nullptr, nullptr);
      Send(connection, script_.greeting);
      std::array<char, 4096> buffer;
      pollfd readable{connection, POLLIN, 0};
      std::string received;
      while (received.find(script_.awaited) == std::string::npos &&
             poll(&readable, 1, kPatienceMs) > 0) {
        const ssize_t got = recv(connection, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        received.append(buffer.data(), static_cast<std::size_t>(got));
      }
      Send(connection, script_.answer);
      shutdown(connection, SHUT_WR);
      // Reading what is left avoids a reset that would overtake the answer.
      while (poll(&readable, 1, kPatienceMs) > 0 &&
             recv(connection, buffer.data(), buffer.size(), 0) > 0) {
      }
      close(connection);
    }
  }

  static constexpr int kPatienceMs = 1000;
  static void Send(int connection, const std::string& bytes) {
    (void)!send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  const Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// An HTTP/2 frame: length, type, flags, stream.
std::string Frame(char type, char flags, char stream, const std::string& payload) {
  const std::size_t n = payload.size();
  std::string frame = {static_cast<char>(n >> 16),
                       static_cast<char>(n >> 8),
                       static_cast<char>(n),
                       type,
                       flags,
                       0,
                       0,
                       0,
                       stream};
  return frame + payload;
}

absl::Status CallAt(const std::string& address) {
  Client::Options options;
  options.address = address;
  options.deadline = absl::Seconds(20);
  options.wait = [](absl::Duration) {};
  return Client::Connect(std::move(options)).value()->GetJob("a").status();
}

TEST(NotGrpcTest, WebServerIsToldFromADeadServer) {
  CannedServer server(
      {"", "PRI",
       "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n"
       "<html></html>"});
  const absl::Status status = CallAt(server.address());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_TRUE(client::IsNotGrpc(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(server.address(), " is not a gRPC endpoint")));
}

TEST(NotGrpcTest, HtmlPageOfAProxyIsToldFromALongMessage) {
  const std::string html = "<html><body>Sign in to continue</body></html>";
  // SETTINGS, acknowledgement, HEADERS ":status: 200" (index 8 of HPACK's static table),
  // then the page as DATA that ends the stream.
  CannedServer server({Frame(4, 0, 0, "") + Frame(4, 1, 0, ""), "JobService",
                       Frame(1, 4, 1, "\x88") + Frame(0, 1, 1, html)});
  const absl::Status status = CallAt(server.address());
  EXPECT_TRUE(client::IsNotGrpc(status)) << status;
}

TEST(NotGrpcTest, NumberInTheMessageMustBeText) {
  const auto code = grpc::StatusCode::RESOURCE_EXHAUSTED;
  EXPECT_TRUE(client::LooksLikeNotGrpc(
      code, "CLIENT: Received message larger than max (1752460652 vs. 4194304)"));
  EXPECT_FALSE(client::LooksLikeNotGrpc(
      code, "CLIENT: Received message larger than max (5000000 vs. 4194304)"));
  EXPECT_FALSE(client::LooksLikeNotGrpc(code, "too many jobs"));
}

}  // namespace
}  // namespace jackdaw
