#include "scheduler/async/async_semaphore.h"

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/wait_line.h"

namespace jackdaw {
namespace {

absl::Status DestroyedError() {
  return absl::AbortedError("the semaphore that was waited for was destroyed");
}

}  // namespace

class AsyncSemaphore::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(std::int64_t units) : units_(units), available_(units) {}

  Future<Permit> Acquire(std::int64_t units) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (units < 1 || units > units_) {
      return Future<Permit>::Ready(absl::InvalidArgumentError(
          absl::StrCat("cannot acquire ", units, " units of a semaphore of ", units_)));
    }
    std::vector<Line::Waiting> unwanted;
    {
      absl::MutexLock lock(&mutex_);
      if (!TakeUnits(units)) return line_.Add(units, weak_from_this(), &State::Cancel, unwanted);
    }
    return Future<Permit>::Ready(Permit(shared_from_this(), units));
  }

  std::optional<Permit> TryAcquire(std::int64_t units) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (units < 1) return std::nullopt;
    {
      absl::MutexLock lock(&mutex_);
      if (!TakeUnits(units)) return std::nullopt;
    }
    return Permit(shared_from_this(), units);
  }

  void AcquireFor(Promise<Permit> promise) ABSL_LOCKS_EXCLUDED(mutex_) {
    Turns turns;
    if (!StandInLine(promise, turns)) return promise.Fulfil(DestroyedError());
    Resolve(turns);
  }

  void Release(std::int64_t units) ABSL_LOCKS_EXCLUDED(mutex_) {
    Turns turns;
    {
      absl::MutexLock lock(&mutex_);
      available_ += units;
      GiveTurns(turns);
    }
    Resolve(turns);
  }

  void Destroy() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<Line::Waiting> waiting;
    {
      absl::MutexLock lock(&mutex_);
      destroyed_ = true;
      waiting = line_.TakeAll();
    }
    for (const Line::Waiting& one : waiting) one.promise.Fulfil(DestroyedError());
  }

  std::int64_t available() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return available_;
  }
  std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return line_.size();
  }

 private:
  using Line = WaitLine<Permit, std::int64_t>;
  // Taken out of the line under the lock, for the caller to resolve outside.
  struct Turns {
    std::vector<Line::Waiting> permitted;
    std::vector<Line::Waiting> unwanted;
  };

  bool TakeUnits(std::int64_t units) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!line_.empty() || units > available_) return false;
    available_ -= units;
    return true;
  }

  // Takes `promise`, unless the semaphore is destroyed: false.
  bool StandInLine(Promise<Permit>& promise, Turns& turns) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (destroyed_) return false;
    line_.Append({std::move(promise), 1});
    GiveTurns(turns);
    return true;
  }

  void GiveTurns(Turns& turns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (!line_.empty()) {
      // A permit that nobody takes would come back at once, by way of the stack.
      if (!line_.first().promise.is_wanted()) {
        turns.unwanted.push_back(line_.TakeFirst());
        continue;
      }
      if (line_.first().need > available_) return;
      available_ -= line_.first().need;
      turns.permitted.push_back(line_.TakeFirst());
    }
  }

  void Resolve(const Turns& turns) ABSL_LOCKS_EXCLUDED(mutex_) {
    for (const Line::Waiting& one : turns.permitted) {
      one.promise.Fulfil(Permit(shared_from_this(), one.need));
    }
  }

  void Cancel(Line::Ticket ticket) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::optional<Line::Waiting> cancelled;
    Turns turns;
    {
      absl::MutexLock lock(&mutex_);
      cancelled = line_.Take(ticket);
      // It may have been the large one in front.
      GiveTurns(turns);
    }
    if (cancelled) cancelled->promise.Fulfil(CancelRequestedError());
    Resolve(turns);
  }

  const std::int64_t units_;
  mutable absl::Mutex mutex_;
  std::int64_t available_ ABSL_GUARDED_BY(mutex_);
  Line line_ ABSL_GUARDED_BY(mutex_);
  bool destroyed_ ABSL_GUARDED_BY(mutex_) = false;
};

void AsyncSemaphore::Permit::Release() {
  const std::shared_ptr<State> state = std::move(state_);
  if (state != nullptr) state->Release(std::exchange(units_, 0));
}

AsyncSemaphore::AsyncSemaphore(std::int64_t units) : state_(std::make_shared<State>(units)) {}
AsyncSemaphore::~AsyncSemaphore() { state_->Destroy(); }

Future<AsyncSemaphore::Permit> AsyncSemaphore::Acquire(std::int64_t units) {
  return state_->Acquire(units);
}
std::optional<AsyncSemaphore::Permit> AsyncSemaphore::TryAcquire(std::int64_t units) {
  return state_->TryAcquire(units);
}
void AsyncSemaphore::AcquireFor(const std::shared_ptr<State>& state, Promise<Permit> promise) {
  state->AcquireFor(std::move(promise));
}
std::int64_t AsyncSemaphore::available() const { return state_->available(); }
std::size_t AsyncSemaphore::waiting() const { return state_->waiting(); }

}  // namespace jackdaw
