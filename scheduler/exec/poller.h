// Poller: which descriptors of commands have something to do.
//
// Thread safety: none, but for Wake(), which any thread may call.

#ifndef JACKDAW_SCHEDULER_EXEC_POLLER_H_
#define JACKDAW_SCHEDULER_EXEC_POLLER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scheduler/base/epoll.h"
#include "scheduler/base/unique_fd.h"

namespace jackdaw {

class CommandRun;

// One descriptor of one command.
struct Watch {
  enum class Channel { kStdin, kStdout, kStderr, kExit };

  CommandRun* run = nullptr;
  Channel channel = Channel::kExit;
  UniqueFd fd = {};
  bool watched = false;
};

class Poller {
 public:
  // Not OK: the system refused a descriptor; nothing else may be called then.
  absl::Status Open();

  enum class Interest { kReadable, kWritable };
  // Reports `watch`, which stays where it is until Remove(), again and again while its
  // descriptor is ready.
  absl::Status Add(Watch& watch, Interest interest);
  // Stops reporting. The descriptor stays open. An earlier Wait() may have reported it.
  void Remove(Watch& watch);
  // Removes and closes. In this order: epoll forgets a closed descriptor only when no other
  // process holds a copy, and a copy may live in a child that some other thread just forked.
  void Close(Watch& watch);

  // Blocks until something is ready, Wake() was called, or the time is over (-1: never).
  // The watches are valid until the next call.
  absl::Span<Watch* const> Wait(int timeout_ms);
  // Ends the current Wait(), or else the next one.
  void Wake();

 private:
  Epoll epoll_;
  std::vector<Watch*> ready_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_POLLER_H_
