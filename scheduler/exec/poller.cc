#include "scheduler/exec/poller.h"

#include <cstddef>
#include <cstdint>

namespace jackdaw {

absl::Status Poller::Open() { return epoll_.Open(); }

absl::Status Poller::Add(Watch& watch, Interest interest) {
  const absl::Status added =
      epoll_.Add(watch.fd.get(), interest == Interest::kReadable ? EPOLLIN : EPOLLOUT,
                 reinterpret_cast<std::uintptr_t>(&watch));
  if (added.ok()) watch.watched = true;
  return added;
}

void Poller::Remove(Watch& watch) {
  if (!watch.watched) return;
  epoll_.Remove(watch.fd.get());
  watch.watched = false;
}

void Poller::Close(Watch& watch) {
  Remove(watch);
  watch.fd.Close();
}

absl::Span<Watch* const> Poller::Wait(int timeout_ms) {
  ready_.clear();
  for (const Epoll::Event& event : epoll_.Wait(timeout_ms)) {
    ready_.push_back(reinterpret_cast<Watch*>(static_cast<std::uintptr_t>(event.tag)));
  }
  return ready_;
}

void Poller::Wake() { epoll_.Wake(); }

}  // namespace jackdaw
