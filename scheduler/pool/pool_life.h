// PoolLife: whether a pool runs, drains, cancels or has stopped, and who may stop it. Internal
// to scheduler/pool.
//
//   kRunning -> kDraining -> kStopped, kRunning -> kCancelling -> kStopped, and
//   kDraining -> kCancelling. The injector is closed before the first step, so from then on only
//   the pool's own tasks make tasks.
//
//   Who makes the last step announced that it will park, as the last of all and knowing that the
//   pool is shutting down; then saw no work anywhere; then found that nobody had left the list of
//   the parked meanwhile. So nobody ran while it looked, and nothing is left. (To have been the
//   last is not enough: another may have seen a task, and be running it.) It wakes the others, and
//   all leave.
//
// Thread safety: any thread; After() on a worker's, Stop() as it says.
//
// Memory order: seq_cst, for the two-phase park: a worker that does not see a change has
// announced itself before it, and is woken. Who sees a shutdown also sees the injector closed.

#ifndef JACKDAW_SCHEDULER_POOL_POOL_LIFE_H_
#define JACKDAW_SCHEDULER_POOL_POOL_LIFE_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

enum class PoolState : std::uint8_t { kRunning, kDraining, kCancelling, kStopped };

// `Atomic` is std::atomic, or the model checker's stand-in for it.
template <template <typename> class Atomic>
class BasicPoolLife {
 public:
  [[nodiscard]] PoolState state() const { return state_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool shutting_down() const { return state() != PoolState::kRunning; }

  // Whether tasks are dropped now. Read for each task, so relaxed: one that starts at the same
  // time may run or not.
  [[nodiscard]] bool cancelling() const {
    return state_.load(std::memory_order_relaxed) == PoolState::kCancelling;
  }

  // The first step, or that from draining to cancelling. True: the caller wakes all workers.
  // The injector must be closed before.
  [[nodiscard]] bool Begin(ShutdownMode mode) {
    if (mode == ShutdownMode::kDrain) return Step(PoolState::kRunning, PoolState::kDraining);
    return Step(PoolState::kRunning, PoolState::kCancelling) ||
           Step(PoolState::kDraining, PoolState::kCancelling);
  }

  // What a worker does that announced that it will park and then saw no work.
  enum class Next { kSleep, kStayUp, kStop };
  // `knew`: whether the pool was shutting down before it announced itself and looked for work;
  // `all_parked`: whether it was the last of all to announce, and nobody has left since.
  [[nodiscard]] Next After(bool knew, bool all_parked) const {
    const PoolState now = state();
    if (now == PoolState::kStopped || (now != PoolState::kRunning) != knew) return Next::kStayUp;
    return knew && all_parked ? Next::kStop : Next::kSleep;
  }

  // The last step. Whoever was told kStop, or drives a pool that has no threads. The caller then
  // wakes all workers.
  void Stop() { state_.store(PoolState::kStopped, std::memory_order_seq_cst); }

 private:
  bool Step(PoolState from, PoolState to) {
    return state_.compare_exchange_strong(from, to, std::memory_order_seq_cst,
                                          std::memory_order_relaxed);
  }

  // Read for every task, hardly ever written.
  alignas(kCacheLine) Atomic<PoolState> state_{PoolState::kRunning};
};

using PoolLife = BasicPoolLife<std::atomic>;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_POOL_LIFE_H_
