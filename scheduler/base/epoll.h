// Epoll: which descriptors have something to do. A thin skin over epoll and an eventfd.
//
// Thread safety: Wait() by one thread at a time, once Open() has returned; the rest by any.

#ifndef JACKDAW_SCHEDULER_BASE_EPOLL_H_
#define JACKDAW_SCHEDULER_BASE_EPOLL_H_

#include <sys/epoll.h>

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scheduler/base/unique_fd.h"

namespace jackdaw {

class Epoll {
 public:
  // What Wait() says of a descriptor: the tag that it was added with, and what epoll reports.
  struct Event {
    std::uint64_t tag;
    std::uint32_t events;
  };

  // Not OK: the system refused a descriptor; nothing else may be called then.
  absl::Status Open();

  // Reports `fd` under `tag`, which is not 0, when one of `events` (EPOLLIN, ...) holds.
  absl::Status Add(int fd, std::uint32_t events, std::uint64_t tag);
  // Changes what is reported of an `fd` that was added.
  absl::Status Change(int fd, std::uint32_t events, std::uint64_t tag);
  // Stops reporting; nothing where that has happened. An earlier Wait() may have reported it.
  void Remove(int fd);

  // Blocks until something is ready, Wake() was called, or the time is over (-1: never). At
  // most kBatch events, valid until the next call.
  absl::Span<const Event> Wait(int timeout_ms);
  // Ends the current Wait(), or else the next one.
  void Wake();

 private:
  static constexpr int kBatch = 64;

  absl::Status Control(int operation, int fd, std::uint32_t events, std::uint64_t tag);

  UniqueFd epoll_;
  UniqueFd wake_;
  std::array<Event, kBatch> ready_{};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_EPOLL_H_
