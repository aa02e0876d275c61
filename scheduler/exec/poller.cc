#include "scheduler/exec/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace jackdaw {

absl::Status Poller::Open() {
  epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return absl::ErrnoToStatus(errno, "epoll_create1");
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) return absl::ErrnoToStatus(errno, "eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return absl::ErrnoToStatus(errno, "epoll_ctl");
  }
  return absl::OkStatus();
}

absl::Status Poller::Add(Watch& watch, Interest interest) {
  epoll_event event{};
  event.events = interest == Interest::kReadable ? EPOLLIN : EPOLLOUT;
  event.data.ptr = &watch;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, watch.fd.get(), &event) != 0) {
    return absl::ErrnoToStatus(errno, "epoll_ctl");
  }
  watch.watched = true;
  return absl::OkStatus();
}

void Poller::Remove(Watch& watch) {
  if (!watch.watched) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watch.fd.get(), nullptr);
  watch.watched = false;
}

void Poller::Close(Watch& watch) {
  Remove(watch);
  watch.fd.Close();
}

absl::Span<Watch* const> Poller::Wait(int timeout_ms) {
  std::array<epoll_event, kBatch> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kBatch, timeout_ms);
  std::size_t watches = 0;
  for (int i = 0; i < count; ++i) {
    void* data = events[static_cast<std::size_t>(i)].data.ptr;
    if (data != nullptr) {
      ready_[watches++] = static_cast<Watch*>(data);
      continue;
    }
    std::uint64_t wakes;
    [[maybe_unused]] const ssize_t n = read(wake_.get(), &wakes, sizeof(wakes));
  }
  return absl::Span<Watch* const>(ready_.data(), watches);
}

void Poller::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof(one));
}

}  // namespace jackdaw
