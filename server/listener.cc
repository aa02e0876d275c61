#include "server/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace jackdaw {
namespace {

constexpr char kUnix[] = "unix:";
constexpr int kBacklog = 1024;  // Connections that wait to be accepted; the system may cap it.

bool SplitPort(absl::string_view address, absl::string_view* host, int* port) {
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return false;
  *host = address.substr(0, colon);
  const bool bare_v6 = absl::StrContains(*host, ":") && !absl::StartsWith(*host, "[");
  return !bare_v6 && absl::SimpleAtoi(address.substr(colon + 1), port) && *port >= 0 &&
         *port <= 65535;
}

absl::Status InTheWay(absl::string_view address, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(address, ": ", what));
}

absl::Status SystemError(absl::string_view address) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", std::strerror(errno)));
}

sockaddr_un UnixName(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  return name;
}

// Removes what a server that is gone left at `path`.
absl::Status RemoveStaleSocket(const std::string& address, const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) return InTheWay(address, "something that is no socket is there");
  const sockaddr_un name = UnixName(path);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool taken = connect(probe, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ||
                     errno == EAGAIN;
  const int error = errno;
  close(probe);
  if (taken) return InTheWay(address, "another server listens there");
  if (error != ECONNREFUSED) return InTheWay(address, std::strerror(error));
  if (unlink(path.c_str()) != 0) return InTheWay(address, std::strerror(errno));
  return absl::OkStatus();
}

// A descriptor that listens, or -1 and errno.
int BindUnix(const std::string& path, int mode) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_un name = UnixName(path);
  // Nobody can connect before listen(), so the mode holds from the first moment on.
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 &&
      chmod(path.c_str(), static_cast<mode_t>(mode)) == 0 && listen(descriptor, kBacklog) == 0) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int BindTcp(const addrinfo& where) {
  const int descriptor =
      socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, where.ai_protocol);
  const int on = 1;
  // Accepted connections inherit it: small answers leave at once.
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // A server that starts again need not wait for old connections to be forgotten.
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(descriptor, where.ai_addr, where.ai_addrlen) == 0 && listen(descriptor, kBacklog) == 0) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int PortOf(int descriptor) {
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

}  // namespace

absl::Status CheckAddress(absl::string_view address) {
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, kUnix)) {
    if (!rest.empty() && rest.size() < sizeof(sockaddr_un{}.sun_path)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("\"", address, "\": the path must have 1 to ",
                                                   sizeof(sockaddr_un{}.sun_path) - 1, " bytes"));
  }
  absl::string_view host;
  int port = 0;
  if (SplitPort(address, &host, &port)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", address, "\": must be host:port, [v6]:port or unix:path"));
}

bool IsLocalAddress(absl::string_view address) {
  if (absl::StartsWith(address, kUnix)) return true;
  absl::string_view host;
  int port = 0;
  if (!SplitPort(address, &host, &port)) return false;
  return absl::StartsWith(host, "127.") || host == "[::1]" || host == "localhost";
}

absl::StatusOr<std::unique_ptr<ListeningSocket>> ListeningSocket::Open(const std::string& address,
                                                                       int mode) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, kUnix)) {
    const std::string file(path);
    if (absl::Status stale = RemoveStaleSocket(address, file); !stale.ok()) return stale;
    const int descriptor = BindUnix(file, mode);
    if (descriptor < 0) return SystemError(address);
    return std::unique_ptr<ListeningSocket>(new ListeningSocket(descriptor, address, file));
  }
  absl::string_view host;
  int port = 0;
  SplitPort(address, &host, &port);
  const std::string bare(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(bare.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", gai_strerror(error)));
  }
  const int descriptor = BindTcp(*found);
  freeaddrinfo(found);
  if (descriptor < 0) return SystemError(address);
  return std::unique_ptr<ListeningSocket>(
      new ListeningSocket(descriptor, absl::StrCat(host, ":", PortOf(descriptor)), /*path=*/""));
}

ListeningSocket::ListeningSocket(int descriptor, std::string address, std::string path)
    : descriptor_(descriptor), address_(std::move(address)), path_(std::move(path)) {}

ListeningSocket::~ListeningSocket() {
  if (!path_.empty()) unlink(path_.c_str());
  close(descriptor_);
}

}  // namespace jackdaw
