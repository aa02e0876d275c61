#include "server/metrics_endpoint.h"

#include <netdb.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace jackdaw {
namespace {

constexpr std::size_t kThreads = 2;
constexpr absl::Duration kKnockPeriod = absl::Milliseconds(5);

// Connects to `address`, which is of this machine, and hangs up. If that fails, it fails:
// nobody listens there any more.
void Knock(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const absl::string_view bracketed = absl::string_view(address).substr(0, colon);
  const std::string host(absl::StripSuffix(absl::StripPrefix(bracketed, "["), "]"));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) return;
  const int connection = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection >= 0) {
    (void)connect(connection, found->ai_addr, found->ai_addrlen);
    close(connection);
  }
  freeaddrinfo(found);
}

}  // namespace

MetricsEndpoint::MetricsEndpoint() = default;
MetricsEndpoint::~MetricsEndpoint() { Stop(); }

absl::Status MetricsEndpoint::Start(const std::string& address) {
  // The exposer reports by exception; it ends here.
  try {
    exposer_ = std::make_unique<prometheus::Exposer>(address, kThreads);
  } catch (const std::exception& e) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", address, ": ", e.what()));
  }
  bound_ = absl::StrCat(address.substr(0, address.rfind(':')), ":",
                        exposer_->GetListeningPorts().front());
  return absl::OkStatus();
}

void MetricsEndpoint::Serve(const std::shared_ptr<prometheus::Collectable>& source) {
  exposer_->RegisterCollectable(source);
}

void MetricsEndpoint::Stop() {
  if (exposer_ == nullptr) return;
  // civetweb learns that it is to stop when a connection comes, or after two seconds. So one
  // comes, again and again until it has: the first may be before it was told.
  absl::Notification stopped;
  std::thread stopping([this, &stopped] {
    exposer_.reset();
    stopped.Notify();
  });
  do {
    Knock(bound_);
  } while (!stopped.WaitForNotificationWithTimeout(kKnockPeriod));
  stopping.join();
}

}  // namespace jackdaw
