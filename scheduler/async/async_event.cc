#include "scheduler/async/async_event.h"

#include <optional>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/wait_line.h"

namespace jackdaw {

class AsyncEvent::State : public std::enable_shared_from_this<State> {
 public:
  Future<void> Wait() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> unwanted;
    absl::MutexLock lock(&mutex_);
    if (set_) return Future<void>::Ready(absl::OkStatus());
    std::monostate nothing;
    return line_.Add(nothing, weak_from_this(), &State::Cancel, unwanted);
  }

  bool Set() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> waiting;
    {
      absl::MutexLock lock(&mutex_);
      if (set_) return false;
      set_ = true;
      waiting = line_.TakeAll();
    }
    for (const Line::Waiting& one : waiting) one.promise.Fulfil();
    return true;
  }

  bool is_set() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return set_;
  }

  void Destroy() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting = line_.TakeAll();
    }
    for (const Line::Waiting& one : waiting) {
      one.promise.Fulfil(absl::AbortedError("the event that was waited for was destroyed"));
    }
  }

 private:
  using Line = WaitLine<void, std::monostate>;

  void Cancel(Line::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Line::Waiting> cancelled;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = line_.Take(ticket);
    }
    if (cancelled) cancelled->promise.Fulfil(CancelRequestedError());
  }

  mutable absl::Mutex mutex_;
  Line line_ ABSL_GUARDED_BY(mutex_);
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

AsyncEvent::AsyncEvent() : state_(std::make_shared<State>()) {}
AsyncEvent::~AsyncEvent() { state_->Destroy(); }

Future<void> AsyncEvent::Wait() { return state_->Wait(); }
bool AsyncEvent::Set() { return state_->Set(); }
bool AsyncEvent::is_set() const { return state_->is_set(); }

}  // namespace jackdaw
