// PoolCore: what the workers of one pool share. Internal to scheduler/pool.
//
// Thread safety: as each member says; the rest is constant once the workers run.
//
// The life of a pool
//   kRunning -> kDraining -> kStopped, kRunning -> kCancelling -> kStopped, and
//   kDraining -> kCancelling. The injector is closed before the first step, so from then on
//   only the pool's own tasks make tasks. The last worker to announce that it will park,
//   having known before that the pool is shutting down, knows that nothing is left: every
//   worker found its own deque empty and, after its own last push, the injector too. It
//   makes the step to kStopped and wakes the others, and all leave.

#ifndef JACKDAW_SCHEDULER_POOL_POOL_CORE_H_
#define JACKDAW_SCHEDULER_POOL_POOL_CORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/cache_line.h"
#include "scheduler/base/clock.h"
#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/injector.h"
#include "scheduler/pool/source_gate.h"

namespace jackdaw {

class Worker;
class WorkStealingPool;

enum class PoolState : std::uint8_t { kRunning, kDraining, kCancelling, kStopped };

struct PoolCore {
  struct Options {
    int threads;           // 0: the caller drives the only worker.
    std::int64_t spin_ns;  // Longest search before parking.
    std::uint64_t seed;
    Clock* clock;
    WorkStealingPool* pool;
  };
  explicit PoolCore(const Options& options);
  ~PoolCore();

  // seq_cst, for the two-phase park: a worker that does not see the change has announced
  // itself before it, and is woken.
  [[nodiscard]] PoolState LoadState() const { return state.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool ShuttingDown() const { return LoadState() != PoolState::kRunning; }

  // One step from `from`; false if that is no longer the state. Any thread.
  bool ChangeState(PoolState from, PoolState to) {
    return state.compare_exchange_strong(from, to, std::memory_order_seq_cst);
  }

  // The step to kStopped; see above who may take it.
  void Stop() {
    state.store(PoolState::kStopped, std::memory_order_seq_cst);
    idle.WakeAll();
  }

  const int threads;
  const std::int64_t spin_ns;
  Clock& clock;
  WorkStealingPool& pool;
  // Read for every task, hardly ever written.
  alignas(kCacheLine) std::atomic<PoolState> state{PoolState::kRunning};
  IdleSet idle;
  Injector injector;
  SourceGate source;
  std::vector<std::unique_ptr<Worker>> workers;  // One where there are no threads.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_POOL_CORE_H_
