// PoolCore: what the workers of one pool share. Internal to scheduler/pool.
//
// Thread safety: as each member says; the rest is constant once the workers run.

#ifndef JACKDAW_SCHEDULER_POOL_POOL_CORE_H_
#define JACKDAW_SCHEDULER_POOL_POOL_CORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/base/clock.h"
#include "scheduler/pool/compensation.h"
#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/injector_lanes.h"
#include "scheduler/pool/pool_life.h"
#include "scheduler/pool/source_gate.h"

namespace jackdaw {

class TraceSink;
class Worker;
class WorkStealingPool;

struct PoolCore {
  struct Options {
    int threads;           // 0: the caller drives the only worker.
    std::int64_t spin_ns;  // Longest search before parking.
    std::uint64_t seed;
    Clock* clock;
    WorkStealingPool* pool;
    TraceSink* trace = nullptr;
    int max_blocked = 0;                           // Extra workers at most.
    std::function<bool(int worker)> start_thread;  // For an extra worker.
  };
  explicit PoolCore(const Options& options);
  ~PoolCore();

  // The end of its life; see pool_life.h who may bring it.
  void Stop() {
    life.Stop();
    idle.WakeAll();
  }

  // Has an extra worker stand in for one that blocks. Called by that one. False: there is none to
  // be had.
  [[nodiscard]] bool StandIn() ABSL_LOCKS_EXCLUDED(hire_mutex);
  // The thread of extra worker `slot` has left its loop and touched the worker last. True: it is
  // needed again, and goes on as that worker.
  [[nodiscard]] bool StaysOn(int slot);

  // Workers to look at: the pool's own and the extra ones there ever were. seq_cst, for the look
  // of a worker that is about to park: an extra worker is counted before it makes work visible.
  [[nodiscard]] int slots() const { return slot_count.load(std::memory_order_seq_cst); }
  [[nodiscard]] Worker& worker(int index) const {
    return *workers[static_cast<std::size_t>(index)];
  }

  const int threads;
  const std::int64_t spin_ns;
  Clock& clock;
  WorkStealingPool& pool;
  TraceSink* const trace;
  PoolLife life;
  IdleSet idle;
  InjectorLanes injector;
  SourceGate source;
  Compensation compensation;
  const std::uint64_t seed;
  const std::function<bool(int worker)> start_thread;
  absl::Mutex hire_mutex;  // Held to make an extra worker.
  std::atomic<int> slot_count{0};
  // Below slot_count they exist: one where there are no threads.
  std::vector<std::unique_ptr<Worker>> workers;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_POOL_CORE_H_
