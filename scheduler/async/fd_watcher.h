// FdWatcher: futures of file descriptors. One thread watches all of them, so a coroutine that
// waits for a socket or a pipe holds none.
//
//   Future<void> readable = watcher.Readable(fd);
//   const absl::Status status = co_await readable;
//   if (status.ok()) n = read(fd, ...);  // Of a non-blocking descriptor: EAGAIN is possible.
//
// Thread safety: any thread, but for the destructor; that on any but the watcher's own. What
// is attached to its futures without a runner (OnReady(), Map()) runs on the watcher's thread
// and must be short; a coroutine goes on on its runner. Futures may outlive the watcher.
//
// Invariants
//   (1) Ready is a hint: another reader may have been faster. Errors and hang-ups of the
//       descriptor count as ready, for the next call on it shows them.
//   (2) Nothing is registered for a descriptor that nobody waits for: such a one is closed
//       like any other. Before one is closed that somebody may wait for, call Forget(), also
//       after a WithTimeout(), which answers before it cancels the wait. Else its waiters wait
//       on, until they are cancelled, or for the next file of that number.
//   (3) An event of a descriptor that was forgotten never reaches those who wait for another
//       one of the same number.
//
// Cancel: a future that is asked to (Future::RequestCancel()) resolves to CANCELLED at once.
//
// Errors: those of epoll_ctl (of no descriptor at all: FAILED_PRECONDITION, EBADF); CANCELLED
// on request and by Forget(); ABORTED where the watcher was destroyed; RESOURCE_EXHAUSTED
// where Options::max_waiting wait. Files that epoll does not watch (regular ones) are always
// ready.

#ifndef JACKDAW_SCHEDULER_ASYNC_FD_WATCHER_H_
#define JACKDAW_SCHEDULER_ASYNC_FD_WATCHER_H_

#include <cstddef>
#include <memory>
#include <thread>

#include "scheduler/async/future.h"

namespace jackdaw {

class FdWatcher {
 public:
  struct Options {
    std::size_t max_waiting = 65'536;  // Futures that may wait at a time.
  };

  // Starts the thread. When the system refuses a descriptor, every call says so.
  explicit FdWatcher(Options options);
  FdWatcher() : FdWatcher(Options{}) {}
  // Those who wait get ABORTED.
  ~FdWatcher();
  FdWatcher(const FdWatcher&) = delete;
  FdWatcher& operator=(const FdWatcher&) = delete;

  // Resolves to OK once reading from, or writing to, `fd` would not block.
  Future<void> Readable(int fd);
  Future<void> Writable(int fd);

  // Resolves all who wait for `fd` to CANCELLED. It may be closed when this returns.
  void Forget(int fd);

  // Futures that wait, at about this moment.
  [[nodiscard]] std::size_t waiting() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
  std::thread thread_;  // Last: it uses the rest.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FD_WATCHER_H_
