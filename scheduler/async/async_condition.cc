#include "scheduler/async/async_condition.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/wait_line.h"

namespace jackdaw {

class AsyncCondition::State : public std::enable_shared_from_this<State> {
 public:
  Future<AsyncMutex::Guard> Wait(std::shared_ptr<AsyncSemaphore::State> semaphore)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> unwanted;
    absl::MutexLock lock(&mutex_);
    return line_.Add(semaphore, weak_from_this(), &State::Cancel, unwanted);
  }

  void NotifyOne() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Line::Waiting> notified;
    std::vector<Line::Waiting> unwanted;
    {
      absl::MutexLock lock(&mutex_);
      notified = line_.TakeFirstWanted(unwanted);
    }
    if (notified) AsyncSemaphore::AcquireFor(notified->need, std::move(notified->promise));
  }

  void NotifyAll() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> notified = TakeAll();
    for (Line::Waiting& one : notified) {
      AsyncSemaphore::AcquireFor(one.need, std::move(one.promise));
    }
  }

  void Destroy() ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::vector<Line::Waiting> waiting = TakeAll();
    for (const Line::Waiting& one : waiting) {
      one.promise.Fulfil(absl::AbortedError("the condition that was waited for was destroyed"));
    }
  }

 private:
  using Line = WaitLine<AsyncMutex::Guard, std::shared_ptr<AsyncSemaphore::State>>;

  std::vector<Line::Waiting> TakeAll() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return line_.TakeAll();
  }

  void Cancel(Line::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Line::Waiting> cancelled;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = line_.Take(ticket);
    }
    if (cancelled) cancelled->promise.Fulfil(CancelRequestedError());
  }

  absl::Mutex mutex_;
  Line line_ ABSL_GUARDED_BY(mutex_);
};

AsyncCondition::AsyncCondition() : state_(std::make_shared<State>()) {}
AsyncCondition::~AsyncCondition() { state_->Destroy(); }

Future<AsyncMutex::Guard> AsyncCondition::Wait(AsyncMutex::Guard guard) {
  Future<AsyncMutex::Guard> waiting = state_->Wait(guard.state_);
  // Only now: whatever changes once it has the lock no more finds it in the line.
  guard.Release();
  return waiting;
}
void AsyncCondition::NotifyOne() { state_->NotifyOne(); }
void AsyncCondition::NotifyAll() { state_->NotifyAll(); }

}  // namespace jackdaw
