#include "scheduler/async/timer_queue.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/alarm.h"
#include "scheduler/async/timer_heap.h"

namespace jackdaw {
namespace {

// The thread looks at the clock at least this often while a timer is pending: it keeps the
// arithmetic of far deadlines in range.
constexpr std::int64_t kLongestWaitNs = 3'600'000'000'000;

}  // namespace

class TimerQueue::Impl {
 public:
  Impl(Clock* clock, Drive drive) : clock_(*clock), drive_(drive) {
    if (drive_ == Drive::kThread) thread_ = std::thread([this] { Serve(); });
  }

  ~Impl() {
    if (drive_ == Drive::kManual) return;
    {
      absl::MutexLock lock(&mutex_);
      stopped_ = true;
    }
    alarm_.Ring();
    thread_.join();
  }

  TimerId After(absl::Duration delay, std::function<void()> callback) ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::int64_t delay_ns = std::max<std::int64_t>(0, absl::ToInt64Nanoseconds(delay));
    const std::int64_t now_ns = clock_.MonotonicNanos();
    const std::int64_t due_ns =
        delay_ns > TimerHeap::kNever - now_ns ? TimerHeap::kNever : now_ns + delay_ns;
    bool is_first;
    TimerId id;
    {
      absl::MutexLock lock(&mutex_);
      is_first = due_ns < heap_.NextDue();
      id = heap_.Add(due_ns, std::move(callback));
    }
    // Only a new first timer changes how long the thread may sleep.
    if (is_first && drive_ == Drive::kThread) alarm_.Ring();
    return id;
  }

  bool Cancel(TimerId id) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::function<void()> callback;  // Dies after the lock: it may own anything.
    absl::MutexLock lock(&mutex_);
    return heap_.Remove(id, callback);
  }

  int RunDue() ABSL_LOCKS_EXCLUDED(mutex_) {
    const std::int64_t now_ns = clock_.MonotonicNanos();
    std::uint64_t limit;
    {
      absl::MutexLock lock(&mutex_);
      limit = heap_.added();
    }
    int ran = 0;
    while (RunFirst(now_ns, limit)) ++ran;
    return ran;
  }

  [[nodiscard]] Drive drive() const { return drive_; }

  std::int64_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return static_cast<std::int64_t>(heap_.size());
  }

 private:
  // Runs the first timer if it is due and was among the first `limit`.
  bool RunFirst(std::int64_t now_ns, std::uint64_t limit) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_ || !heap_.PopDue(now_ns, limit, callback)) return false;
    }
    callback();
    return true;
  }

  // The timer thread.
  void Serve() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      RunDue();
      std::int64_t next_ns;
      {
        absl::MutexLock lock(&mutex_);
        if (stopped_) return;
        next_ns = heap_.NextDue();
      }
      // A timer that comes first from here on rings, and the wait below returns at once.
      if (next_ns == TimerHeap::kNever) {
        alarm_.Wait();
        continue;
      }
      const std::int64_t wait_ns = next_ns - clock_.MonotonicNanos();
      if (wait_ns > 0) {
        alarm_.WaitAtMost(std::chrono::nanoseconds(std::min(wait_ns, kLongestWaitNs)));
      }
    }
  }

  Clock& clock_;
  const Drive drive_;
  Alarm alarm_;
  mutable absl::Mutex mutex_;
  TimerHeap heap_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // Last: it uses the rest.
};

TimerQueue::TimerQueue(Clock* clock, Drive drive) : impl_(std::make_unique<Impl>(clock, drive)) {}
TimerQueue::~TimerQueue() = default;

TimerQueue::TimerId TimerQueue::After(absl::Duration delay, std::function<void()> callback) {
  return impl_->After(delay, std::move(callback));
}

bool TimerQueue::Cancel(TimerId id) { return impl_->Cancel(id); }

int TimerQueue::RunDue() {
  assert(impl_->drive() == Drive::kManual);
  return impl_->RunDue();
}

std::int64_t TimerQueue::size() const { return impl_->size(); }

}  // namespace jackdaw
