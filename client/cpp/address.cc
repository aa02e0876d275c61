#include "client/cpp/address.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace jackdaw::client {
namespace {

constexpr std::size_t kMaxSocketPathBytes = 107;  // sockaddr_un's, without the final NUL.
constexpr int kMaxPort = 65535;

absl::Status Wrong(absl::string_view address, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("server address \"", address, "\": ", why,
                                                 "; expected HOST:PORT such as ", kDefaultAddress,
                                                 ", or unix:PATH such as unix:/run/jackdaw.sock"));
}

}  // namespace

absl::StatusOr<std::string> ParseAddress(absl::string_view address) {
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    absl::ConsumePrefix(&rest, "//");
    if (rest.empty()) return Wrong(address, "found no path");
    if (rest.size() > kMaxSocketPathBytes) {
      return Wrong(address, absl::StrCat("found a path of ", rest.size(), " bytes, more than the ",
                                         kMaxSocketPathBytes, " that a socket can have"));
    }
    return absl::StrCat("unix:", rest);
  }
  if (address.find("://") != absl::string_view::npos) return Wrong(address, "found a URL");
  const std::size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return Wrong(address, "found no port");
  const absl::string_view host = address.substr(0, colon);
  if (host.empty()) return Wrong(address, "found no host");
  if (host.find(':') != absl::string_view::npos && host.front() != '[') {
    return Wrong(address, "found an IPv6 address without brackets, as in [::1]:7433");
  }
  int port = 0;
  if (!absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 || port > kMaxPort) {
    return Wrong(address, absl::StrCat("found the port \"", address.substr(colon + 1),
                                       "\", not a number from 1 to ", kMaxPort));
  }
  return std::string(address);
}

}  // namespace jackdaw::client
