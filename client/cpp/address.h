// Addresses of servers: `host:port`, `[::1]:7433`, `unix:/run/jackdaw.sock`.

#ifndef JACKDAW_CLIENT_CPP_ADDRESS_H_
#define JACKDAW_CLIENT_CPP_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw::client {

inline constexpr char kDefaultAddress[] = "127.0.0.1:7433";

// The target for gRPC. INVALID_ARGUMENT, with the forms that are right, for anything else;
// a URL such as http://host gets its own hint.
[[nodiscard]] absl::StatusOr<std::string> ParseAddress(absl::string_view address);

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_ADDRESS_H_
