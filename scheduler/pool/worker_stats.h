// Counters of a worker and of a pool, as a snapshot. Each worker owns cache lines that
// only it writes; a reader sums. Counts since the start of the pool; a snapshot taken
// while the pool works may miss what happens meanwhile, never count it twice. A task is
// counted just before it begins: whoever learns from it that it ran finds it counted.
//
// Always, once the pool is idle:
//   tasks = from_own_deque + from_steals + from_injector + from_mailbox + inline_runs
//   accepted = tasks - inline_runs + dropped, summed over the workers

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_STATS_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_STATS_H_

#include <cstdint>

namespace jackdaw {

struct WorkerStats {
  std::int64_t tasks = 0;  // Run, the one that runs now included.
  // Where each came from. What a WorkSource gave, and all but the first of what was taken from
  // the injector at once, passes through the deque and counts as own or stolen.
  std::int64_t from_own_deque = 0;
  std::int64_t from_steals = 0;
  std::int64_t from_injector = 0;
  std::int64_t from_mailbox = 0;
  std::int64_t inline_runs = 0;  // Run as the next step of another task, without a queue.
  std::int64_t dropped = 0;      // Dropped by a cancelling shutdown, not run.

  std::int64_t steals_taken = 0;  // Attempts by outcome; taken = from_steals.
  std::int64_t steals_empty = 0;
  std::int64_t steals_lost = 0;

  std::int64_t idle_spins = 0;  // Fruitless sweeps over every place work could be.
  std::int64_t spin_ns = 0;     // Time spent searching.
  std::int64_t parks = 0;
  std::int64_t park_ns = 0;  // Includes the current park.
  std::int64_t busy_ns = 0;  // Time between finding work and running out of it.
  std::int64_t wakeups = 0;  // Returns from a park.
  std::int64_t wakeups_without_work = 0;

  std::int64_t queue_depth = 0;  // Now, in the deque.
  std::int64_t queue_capacity = 0;
  std::int64_t queue_grows = 0;
};

struct PoolStats {
  std::int64_t injector_depth = 0;
  std::int64_t injected = 0;  // Ever submitted from outside, to a mailbox included.
  int workers = 0;
  int blocked = 0;  // Workers in a blocking region.
  int extra = 0;    // Workers that stand in for them.
  int searching = 0;
  int parked = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_STATS_H_
