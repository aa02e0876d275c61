// What a worker has counted, as others see it.

#include <bit>
#include <cstdint>

#include "scheduler/pool/worker.h"

namespace jackdaw {

WorkerStats Worker::Snapshot() const {
  const std::int64_t now_ns = core_.clock.MonotonicNanos();
  const auto from = [this](Origin origin) {
    return counters_.by_origin[static_cast<int>(origin)].Read();
  };
  WorkerStats stats;
  stats.tasks = counters_.tasks.Read();
  stats.from_own_deque = from(Origin::kOwnDeque);
  stats.from_steals = from(Origin::kStolen);
  stats.from_injector = from(Origin::kInjector);
  stats.from_mailbox = from(Origin::kMailbox);
  stats.inline_runs = from(Origin::kInline);
  stats.dropped = counters_.dropped.Read();
  stats.steals_taken = stats.from_steals;
  stats.steals_empty = counters_.steals_empty.Read();
  stats.steals_lost = counters_.steals_lost.Read();
  stats.idle_spins = counters_.idle_spins.Read();
  stats.spin_ns = counters_.spin_ns.Read();
  stats.parks = counters_.parks.Read();
  stats.park_ns = counters_.park.Read(now_ns);
  stats.busy_ns = counters_.busy.Read(now_ns);
  stats.wakeups = counters_.wakeups.Read();
  stats.wakeups_without_work = counters_.wakeups_without_work.Read();
  stats.queue_depth = deque_.SizeEstimate();
  stats.queue_capacity = deque_.CapacityEstimate();
  const WorkerDeque::Options options;
  stats.queue_grows = std::countr_zero(static_cast<std::uint64_t>(stats.queue_capacity)) -
                      std::countr_zero(static_cast<std::uint64_t>(options.initial_capacity));
  return stats;
}

}  // namespace jackdaw
