#include "client/cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace jackdaw::cli {

InterruptGuard::InterruptGuard(std::function<void(int count)> on_signal)
    : on_signal_(std::move(on_signal)) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Watch(); });
}

InterruptGuard::~InterruptGuard() {
  const std::uint64_t one = 1;
  while (write(stop_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  close(signal_fd_);
  close(stop_fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void InterruptGuard::Watch() {
  int count = 0;
  while (true) {
    std::array<pollfd, 2> fds = {{{stop_fd_, POLLIN, 0}, {signal_fd_, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if ((fds[0].revents & POLLIN) != 0) return;
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info) on_signal_(++count);
  }
}

}  // namespace jackdaw::cli
