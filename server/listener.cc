#include "server/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/errors.h"

namespace jackdaw {
namespace {

constexpr char kUnix[] = "unix:";

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

std::string WithPort(absl::string_view address, int port) {
  absl::string_view host;
  int asked = 0;
  if (absl::StartsWith(address, kUnix) || !SplitPort(address, &host, &asked)) {
    return std::string(address);
  }
  return absl::StrCat(host, ":", port);
}

absl::Status RemoveStaleSocket(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, kUnix)) return absl::OkStatus();
  const std::string path(address);
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return absl::OkStatus();
  if (!S_ISSOCK(found.st_mode)) return InTheWay(address, "something that is no socket is there");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool taken = connect(probe, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0;
  const int error = errno;
  close(probe);
  if (taken) return InTheWay(address, "another server listens there");
  if (error != ECONNREFUSED) return InTheWay(address, std::strerror(error));
  if (unlink(path.c_str()) != 0) return InTheWay(address, std::strerror(errno));
  return absl::OkStatus();
}

}  // namespace jackdaw
