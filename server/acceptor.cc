#include "server/acceptor.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace jackdaw {
namespace {

int OpenReserve() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Acceptor::Acceptor(std::vector<std::unique_ptr<ListeningSocket>> sockets,
                   OnConnection on_connection)
    : sockets_(std::move(sockets)),
      on_connection_(std::move(on_connection)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      reserve_(OpenReserve()) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "accept");
    Run();
  });
}

Acceptor::~Acceptor() {
  const std::uint64_t one = 1;
  while (write(stop_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  close(stop_);
  if (reserve_ >= 0) close(reserve_);
}

void Acceptor::Run() {
  std::vector<pollfd> polled;
  polled.push_back({stop_, POLLIN, 0});
  for (const auto& socket : sockets_) polled.push_back({socket->descriptor(), POLLIN, 0});
  for (;;) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;  // Interrupted.
    if (polled.front().revents != 0) return;
    for (const pollfd& ready : polled) {
      if (ready.revents != 0) Accept(ready.fd);
    }
  }
}

void Acceptor::Accept(int listener) {
  const int connection = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection >= 0) {
    on_connection_(listener, connection);
  } else if (errno == EMFILE || errno == ENFILE) {
    TurnAway(listener);
  }
  // Otherwise the client left already, or will be met again by the next poll().
}

void Acceptor::TurnAway(int listener) {
  // With the reserve given up there is a descriptor to accept with. If somebody else takes
  // it first, the connection waits in the backlog.
  if (reserve_ >= 0) close(reserve_);
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection >= 0) close(connection);
  reserve_ = OpenReserve();
}

}  // namespace jackdaw
