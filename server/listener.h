// Addresses to listen on and the sockets that do.
//
// Thread safety: free functions; a socket belongs to one thread.

#ifndef JACKDAW_SERVER_LISTENER_H_
#define JACKDAW_SERVER_LISTENER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// INVALID_ARGUMENT unless `address` is `host:port`, `[v6]:port` or `unix:path`.
absl::Status CheckAddress(absl::string_view address);

// Whether only this machine can reach it: a Unix socket or a loopback address.
[[nodiscard]] bool IsLocalAddress(absl::string_view address);

// A socket that listens. Closed, and a Unix socket's path removed, at its end.
class ListeningSocket {
 public:
  // Listens on `address`, of the form above; `mode` is that of a Unix socket. Takes the place of
  // what a server that is gone left at a Unix socket's path. FAILED_PRECONDITION: a server
  // listens there, or something else than a socket is in the way. UNAVAILABLE: the system
  // refuses the address.
  static absl::StatusOr<std::unique_ptr<ListeningSocket>> Open(const std::string& address,
                                                               int mode);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The address, with the port that the system chose where it was asked to.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  ListeningSocket(int descriptor, std::string address, std::string path);

  const int descriptor_;
  const std::string address_;
  const std::string path_;  // Of a Unix socket.
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_LISTENER_H_
