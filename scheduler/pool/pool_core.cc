#include "scheduler/pool/pool_core.h"

#include <algorithm>

#include "scheduler/base/random.h"
#include "scheduler/pool/worker.h"

namespace jackdaw {

PoolCore::PoolCore(const Options& options)
    : threads(options.threads),
      spin_ns(options.spin_ns),
      clock(*options.clock),
      pool(*options.pool),
      trace(options.trace),
      idle(options.threads, options.max_blocked),
      source(std::max(1, options.threads) + options.max_blocked),
      compensation(std::max(1, options.threads), options.max_blocked),
      seed(options.seed),
      start_thread(options.start_thread),
      workers(static_cast<std::size_t>(std::max(1, options.threads) + options.max_blocked)) {
  Random seeds(seed);
  const int own = std::max(1, threads);
  for (int i = 0; i < own; ++i) {
    workers[static_cast<std::size_t>(i)] = std::make_unique<Worker>(*this, i, seeds.Next());
  }
  slot_count.store(own, std::memory_order_seq_cst);
}

PoolCore::~PoolCore() = default;

bool PoolCore::StandIn() {
  const int slot = compensation.Begin();
  if (slot == Compensation::kNoSlot) return false;
  {
    absl::MutexLock lock(&hire_mutex);
    for (int i = slots(); i <= slot; ++i) {
      const std::uint64_t own_seed = Random(seed + static_cast<std::uint64_t>(i)).Next();
      workers[static_cast<std::size_t>(i)] = std::make_unique<Worker>(*this, i, own_seed);
      slot_count.store(i + 1, std::memory_order_seq_cst);
    }
  }
  idle.AddWorker();
  if (start_thread(slot)) return true;
  // The caller runs, so not all are parked, and nobody waits for this.
  (void)idle.RemoveWorker();
  compensation.GiveUp(slot);
  return false;
}

bool PoolCore::StaysOn(int slot) {
  if (slot < threads || !compensation.Vacate(slot)) return false;
  // No harm where the pool has stopped meanwhile: the loop sees it. Otherwise the others do not
  // count as all from here on.
  idle.AddWorker();
  return true;
}

}  // namespace jackdaw
