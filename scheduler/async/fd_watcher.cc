#include "scheduler/async/fd_watcher.h"

#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "scheduler/async/wait_line.h"
#include "scheduler/base/epoll.h"

namespace jackdaw {
namespace {

// What epoll reports unasked; it makes a descriptor ready for everybody.
constexpr std::uint32_t kAlways = EPOLLERR | EPOLLHUP;

}  // namespace

// The calls of epoll_ctl happen under the lock, so that the table and the kernel agree.
class FdWatcher::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(std::size_t max_waiting) : opened_(epoll_.Open()), line_(max_waiting) {}

  Future<void> Wait(int fd, std::uint32_t events) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!opened_.ok()) return Future<void>::Ready(opened_);
    std::vector<Line::Waiting> unwanted;
    std::optional<Line::Waiting> refused;
    absl::Status registered;
    Future<void> future;
    {
      absl::MutexLock lock(&mutex_);
      const Place place{fd, line_.next_ticket()};
      Place need = place;
      future = line_.Add(need, weak_from_this(), &State::Cancel, unwanted);
      for (const Line::Waiting& one : unwanted) Leave(one.need);
      if (future.is_ready()) return future;  // Too many wait.
      descriptors_[fd].waiters.push_back({place.ticket, events});
      registered = Register(fd);
      if (!registered.ok()) refused = TakeOut(place);
    }
    if (refused) {
      // EPERM is what epoll says of a file that cannot block.
      refused->promise.Fulfil(absl::IsPermissionDenied(registered) ? absl::OkStatus() : registered);
    }
    return future;
  }

  void Forget(int fd) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> forgotten;
    {
      absl::MutexLock lock(&mutex_);
      TakeReady(fd, kAlways, forgotten);
    }
    for (const Line::Waiting& one : forgotten) {
      one.promise.Fulfil(absl::CancelledError("the descriptor was forgotten"));
    }
  }

  // The watcher's thread: returns once stopped.
  void Serve() ABSL_LOCKS_EXCLUDED(mutex_) {
    pthread_setname_np(pthread_self(), "fd-watcher");
    while (opened_.ok() && !is_stopped()) {
      for (const Epoll::Event& event : epoll_.Wait(-1)) Report(event);
    }
  }

  void Stop() ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      stopped_ = true;
    }
    if (opened_.ok()) epoll_.Wake();
  }

  // After the thread has ended.
  void Destroy() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting = line_.TakeAll();
    }
    for (const Line::Waiting& one : waiting) {
      one.promise.Fulfil(absl::AbortedError("the watcher of descriptors was destroyed"));
    }
  }

  std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return line_.size();
  }

 private:
  // Where a waiter is to be found in the table.
  struct Place {
    int fd;
    std::uint64_t ticket;
  };
  using Line = WaitLine<void, Place>;

  // A descriptor that somebody waits for.
  struct Descriptor {
    struct Waiter {
      Line::Ticket ticket;
      std::uint32_t events;
    };
    std::vector<Waiter> waiters;
    std::uint32_t generation = 0;  // Of its registration; 0: none.
  };

  bool is_stopped() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return stopped_;
  }

  // Has `fd`, which is in the table, reported once, for all that its waiters want.
  absl::Status Register(int fd) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Descriptor& descriptor = descriptors_[fd];
    std::uint32_t events = EPOLLONESHOT;
    for (const Descriptor::Waiter& waiter : descriptor.waiters) events |= waiter.events;
    if (descriptor.generation != 0) {
      const absl::Status changed = epoll_.Change(fd, events, TagOf(fd, descriptor));
      // Not found: it was closed under its waiters, and the number is another file's now.
      if (!absl::IsNotFound(changed)) return changed;
    }
    descriptor.generation = NextGeneration();
    return epoll_.Add(fd, events, TagOf(fd, descriptor));
  }

  // Never 0, which is no registration; it wraps around.
  std::uint32_t NextGeneration() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (++last_generation_ == 0) ++last_generation_;
    return last_generation_;
  }

  static std::uint64_t TagOf(int fd, const Descriptor& descriptor) {
    return std::uint64_t{descriptor.generation} << 32 | static_cast<std::uint32_t>(fd);
  }

  void Report(const Epoll::Event& event) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int fd = static_cast<int>(event.tag & 0xffff'ffff);
    std::vector<Line::Waiting> ready;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = descriptors_.find(fd);
      if (found == descriptors_.end() || TagOf(fd, found->second) != event.tag) return;
      TakeReady(fd, event.events, ready);
      // What cannot be watched any more is ready: the next call on it shows why.
      if (descriptors_.contains(fd) && !Register(fd).ok()) TakeReady(fd, kAlways, ready);
    }
    for (const Line::Waiting& one : ready) one.promise.Fulfil();
  }

  // Takes out those who wait for one of `events` of `fd`.
  void TakeReady(int fd, std::uint32_t events, std::vector<Line::Waiting>& ready)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return;
    // A copy: TakeOut() changes the list, and with the last one the table.
    const std::vector<Descriptor::Waiter> waiters = found->second.waiters;
    for (const Descriptor::Waiter& waiter : waiters) {
      if ((events & (waiter.events | kAlways)) == 0) continue;
      ready.push_back(*TakeOut({fd, waiter.ticket}));
    }
  }

  // Requires: it is in the line.
  std::optional<Line::Waiting> TakeOut(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Leave(place);
    return line_.Take(place.ticket);
  }

  // Takes a waiter off its descriptor, which is no longer watched when that was the last one.
  void Leave(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = descriptors_.find(place.fd);
    std::erase_if(found->second.waiters, [&place](const Descriptor::Waiter& waiter) {
      return waiter.ticket == place.ticket;
    });
    if (!found->second.waiters.empty()) return;
    epoll_.Remove(place.fd);
    descriptors_.erase(found);
  }

  void Cancel(Line::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Line::Waiting> cancelled;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = line_.Take(ticket);
      if (cancelled) Leave(cancelled->need);
    }
    if (cancelled) cancelled->promise.Fulfil(CancelRequestedError());
  }

  Epoll epoll_;
  const absl::Status opened_;
  mutable absl::Mutex mutex_;
  Line line_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<int, Descriptor> descriptors_ ABSL_GUARDED_BY(mutex_);
  std::uint32_t last_generation_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

FdWatcher::FdWatcher(Options options)
    : state_(std::make_shared<State>(options.max_waiting)),
      thread_([state = state_] { state->Serve(); }) {}

FdWatcher::~FdWatcher() {
  state_->Stop();
  thread_.join();
  state_->Destroy();
}

Future<void> FdWatcher::Readable(int fd) { return state_->Wait(fd, EPOLLIN); }
Future<void> FdWatcher::Writable(int fd) { return state_->Wait(fd, EPOLLOUT); }
void FdWatcher::Forget(int fd) { state_->Forget(fd); }
std::size_t FdWatcher::waiting() const { return state_->waiting(); }

}  // namespace jackdaw
