// TimerQueue: calls callbacks at their time. One thread serves all timers; a test passes
// its own clock and calls RunDue() instead.
//
// Thread safety: every method from any thread. Callbacks run on the timer thread (or in
// RunDue()), one at a time, and must be short: submit to a runner what is not.

#ifndef JACKDAW_SCHEDULER_ASYNC_TIMER_QUEUE_H_
#define JACKDAW_SCHEDULER_ASYNC_TIMER_QUEUE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "scheduler/base/clock.h"

namespace jackdaw {

class TimerQueue {
 public:
  using TimerId = std::uint64_t;  // Never 0, never used again.
  enum class Drive { kThread, kManual };

  explicit TimerQueue(Clock* clock = &Clock::Real(), Drive drive = Drive::kThread);
  // Callbacks that are not due yet never run.
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Calls `callback` once, `delay` from now (at once if it is not positive).
  TimerId After(absl::Duration delay, std::function<void()> callback);

  // True if the callback has not started and now never will. Does not wait for one that
  // runs.
  bool Cancel(TimerId id);

  // Runs what is due by the clock and returns how many callbacks that were. kManual only.
  int RunDue();

  // Timers pending.
  [[nodiscard]] std::int64_t size() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_TIMER_QUEUE_H_
