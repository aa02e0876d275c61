// Alarm: where one thread sleeps until a time or until another thread rings, whichever is
// first. A ring that comes before the sleep ends it at once.
//
// Thread safety: Wait() and WaitAtMost() by one thread at a time; Ring() by any.
//
// Time is the steady clock's: nobody who sets the wall clock delays an alarm.

#ifndef JACKDAW_SCHEDULER_ASYNC_ALARM_H_
#define JACKDAW_SCHEDULER_ASYNC_ALARM_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace jackdaw {

class Alarm {
 public:
  // Returns after a Ring(), and takes it.
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    rung_changed_.wait(lock, [this] { return rung_; });
    rung_ = false;
  }

  // Returns after a Ring(), and takes it, or when `span` is over.
  void WaitAtMost(std::chrono::nanoseconds span) {
    const auto end = std::chrono::steady_clock::now() + span;
    std::unique_lock<std::mutex> lock(mutex_);
    rung_changed_.wait_until(lock, end, [this] { return rung_; });
    rung_ = false;
  }

  void Ring() {
    std::lock_guard<std::mutex> lock(mutex_);
    rung_ = true;
    rung_changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable rung_changed_;
  bool rung_ = false;  // Guarded by mutex_.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ALARM_H_
