// InterruptibleWait: one suspension of a fiber, ended by the future that it waits for or by a
// cancel, whichever comes first. The other then finds that there is nothing to do.
//
// It lives on the heap because a future keeps its waiters until it resolves, which may be long
// after the fiber was cancelled and gone. A fiber makes one and uses it again for each wait,
// unless somebody else still holds it.
//
// Thread safety
//   Begin(), Arm()    the thread that suspends the coroutine.
//   End()             any thread that holds it, any number of times.
//   Hold(), Drop()    any holder.
//
// Invariants
//   (1) Between Begin() and the next, the run is resumed by exactly one: the End() that found
//       the wait armed, which submits it, or, where End() came before Arm(), the suspending
//       thread, which simply goes on.
//
// Memory order: `state_` is changed by read-modify-writes with acquire and release. So the End()
// that finds it armed sees the suspended coroutine, and an Arm() that comes too late sees what
// the ender did before, a published result among it. A give-back of `holders_` releases to the
// acquire of the one that frees it, or uses it again.

#ifndef JACKDAW_SCHEDULER_ASYNC_INTERRUPTIBLE_WAIT_H_
#define JACKDAW_SCHEDULER_ASYNC_INTERRUPTIBLE_WAIT_H_

#include <atomic>

#include "scheduler/async/co_run.h"
#include "scheduler/async/waiter.h"

namespace jackdaw {

class InterruptibleWait final : public Waiter {
 public:
  // Has one holder, the maker. `run` is touched only while it is suspended here.
  explicit InterruptibleWait(CoRun& run)
      : Waiter(&InterruptibleWait::OnReady, Turn::kAtOnce), run_(run) {}

  void Hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void Drop() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool is_sole_holder() const {
    return holders_.load(std::memory_order_acquire) == 1;
  }

  // Opens the next wait. Requires: the caller is the sole holder.
  void Begin() { state_.store(State::kBegun, std::memory_order_relaxed); }
  // The coroutine is suspended. False: the wait has ended already, and the caller goes on. After
  // true the run may be on another thread, or gone, and this wait with it.
  [[nodiscard]] bool Arm() {
    State expected = State::kBegun;
    return state_.compare_exchange_strong(expected, State::kArmed, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  // Ends the wait, if it has not ended. May run what the runner does with a task that it refuses.
  void End();

  // Whether a coroutine is suspended here, at about this moment.
  [[nodiscard]] bool is_armed() const {
    return state_.load(std::memory_order_relaxed) == State::kArmed;
  }

 private:
  enum class State { kBegun, kArmed, kEnded };

  ~InterruptibleWait() = default;
  // The future is ready, and lets go of this.
  static void OnReady(Waiter* waiter) noexcept;

  CoRun& run_;
  std::atomic<State> state_{State::kEnded};
  std::atomic<int> holders_{1};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_INTERRUPTIBLE_WAIT_H_
