// Addresses to listen on: what they may look like, and what has to be done about Unix
// sockets before and after.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_LISTENER_H_
#define JACKDAW_SERVER_LISTENER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// INVALID_ARGUMENT unless `address` is `host:port`, `[v6]:port` or `unix:path`.
absl::Status CheckAddress(absl::string_view address);

// Whether only this machine can reach it: a Unix socket or a loopback address.
[[nodiscard]] bool IsLocalAddress(absl::string_view address);

// `address` with the port that the system chose, where it asked for port 0.
[[nodiscard]] std::string WithPort(absl::string_view address, int port);

// Removes what a server that is gone left at a Unix socket's path. FAILED_PRECONDITION when
// a server listens there or something else than a socket is in the way. OK for other addresses.
absl::Status RemoveStaleSocket(absl::string_view address);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_LISTENER_H_
