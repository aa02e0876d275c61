// TimerQueue: calls callbacks at their time. One thread serves all timers; a test passes
// its own clock and calls RunDue() instead.
//
// Thread safety: every method from any thread, also from a callback. Callbacks run on the
// timer thread (or in RunDue()), one at a time, and must be short and must not throw:
// submit to a runner what is not. The destructor from any thread but the timer thread.
//
// Invariants
//   (1) A callback runs at most once, never before its time by the clock's monotonic
//       reading, in the order of due times, equal ones in the order of After().
//   (2) A callback runs, and is destroyed, outside the queue's lock.
//   (3) Without timers the thread sleeps without a time-out.
//
// Cost: After() and Cancel() are O(log n) and leave no garbage behind.

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

  // With kThread the clock must keep the pace of the machine's: the thread sleeps for as
  // long as the clock says, and looks again. `clock` outlives the queue.
  explicit TimerQueue(Clock* clock = &Clock::Real(), Drive drive = Drive::kThread);
  // Callbacks that have not started never run; they are destroyed. Waits for one that runs.
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  // Calls `callback` once, `delay` from now (at once if it is not positive), but never
  // within this call. A delay beyond 292 years never comes.
  TimerId After(absl::Duration delay, std::function<void()> callback);

  // True if the callback has not started and now never will; it is destroyed here. Does not
  // wait for one that runs. False for an id that is not pending.
  bool Cancel(TimerId id);

  // Runs what is due by the clock and returns how many callbacks that were. What they add
  // waits for the next call, even if it is due. kManual only, one call at a time.
  int RunDue();

  // Timers pending.
  [[nodiscard]] std::int64_t size() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_TIMER_QUEUE_H_
