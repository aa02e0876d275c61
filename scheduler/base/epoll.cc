#include "scheduler/base/epoll.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

constexpr std::uint64_t kWakeTag = 0;

}  // namespace

absl::Status Epoll::Open() {
  epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return absl::ErrnoToStatus(errno, "epoll_create1");
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) return absl::ErrnoToStatus(errno, "eventfd");
  return Control(EPOLL_CTL_ADD, wake_.get(), EPOLLIN, kWakeTag);
}

absl::Status Epoll::Add(int fd, std::uint32_t events, std::uint64_t tag) {
  return Control(EPOLL_CTL_ADD, fd, events, tag);
}

absl::Status Epoll::Change(int fd, std::uint32_t events, std::uint64_t tag) {
  return Control(EPOLL_CTL_MOD, fd, events, tag);
}

void Epoll::Remove(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

absl::Status Epoll::Control(int operation, int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), operation, fd, &event) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("epoll_ctl of descriptor ", fd));
}

absl::Span<const Epoll::Event> Epoll::Wait(int timeout_ms) {
  std::array<epoll_event, kBatch> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kBatch, timeout_ms);
  std::size_t ready = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 != kWakeTag) {
      ready_[ready++] = {event.data.u64, event.events};
      continue;
    }
    std::uint64_t wakes;
    [[maybe_unused]] const ssize_t n = read(wake_.get(), &wakes, sizeof(wakes));
  }
  return absl::Span<const Event>(ready_.data(), ready);
}

void Epoll::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof(one));
}

}  // namespace jackdaw
