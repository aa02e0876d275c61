// Acceptor and ListeningSocket on real sockets.

#include "server/acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/synchronization/mutex.h"

namespace jackdaw {
namespace {

// Not of the fixture: where descriptors have run out, UndefinedBehaviorSanitizer cannot check
// the type of an object whose member is called, and takes it for a wrong one.
bool Connect(int client, const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  return connect(client, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0;
}

class AcceptorTest : public ::testing::Test {
 protected:
  AcceptorTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "jackdaw.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~AcceptorTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/socket"; }
  [[nodiscard]] std::string address() const { return "unix:" + path(); }

  std::unique_ptr<ListeningSocket> Open(int mode = 0600) {
    auto socket = ListeningSocket::Open(address(), mode);
    EXPECT_TRUE(socket.ok()) << socket.status();
    return socket.ok() ? *std::move(socket) : nullptr;
  }

  std::string folder_;
};

TEST_F(AcceptorTest, ASocketHasItsModeAndIsRemovedAtItsEnd) {
  auto socket = Open(0640);
  struct stat found {};
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
  socket.reset();
  EXPECT_NE(stat(path().c_str(), &found), 0);
}

TEST_F(AcceptorTest, AStaleSocketIsReplaced) {
  const int left = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path().data(), path().size());
  ASSERT_EQ(bind(left, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  close(left);
  EXPECT_NE(Open(), nullptr);
}

TEST_F(AcceptorTest, AFileInTheWayIsLeftAlone) {
  std::ofstream(path()) << "precious";
  EXPECT_EQ(ListeningSocket::Open(address(), 0600).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::is_regular_file(path()));
}

TEST_F(AcceptorTest, AnAddressThatIsNotOursIsRefusedWithTheReason) {
  const absl::Status status = ListeningSocket::Open("192.0.2.1:0", 0600).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("192.0.2.1:0"));
}

// gRPC's own listener is dead after this.
TEST_F(AcceptorTest, RunningOutOfDescriptorsCostsOneConnectionNotTheListener) {
  absl::Mutex mutex;
  int accepted = 0;
  std::vector<std::unique_ptr<ListeningSocket>> sockets;
  sockets.push_back(Open());
  Acceptor acceptor(std::move(sockets), [&](int, int connection) {
    close(connection);
    absl::MutexLock lock(&mutex);
    ++accepted;
  });
  const std::string at = path();
  const int unlucky = socket(AF_UNIX, SOCK_STREAM, 0);
  const int lucky = socket(AF_UNIX, SOCK_STREAM, 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(lucky) + 1;  // All below are taken.
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_TRUE(Connect(unlucky, at));
  char byte = 0;
  EXPECT_EQ(recv(unlucky, &byte, 1, 0), 0);  // Closed at once.
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  {
    absl::MutexLock lock(&mutex);
    EXPECT_EQ(accepted, 0);
  }
  EXPECT_TRUE(Connect(lucky, at));
  {
    absl::MutexLock lock(&mutex);
    const auto arrived = [&] { return accepted == 1; };
    mutex.Await(absl::Condition(&arrived));
  }
  close(unlucky);
  close(lucky);
}

}  // namespace
}  // namespace jackdaw
