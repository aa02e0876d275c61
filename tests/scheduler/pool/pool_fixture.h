// What the tests of the pool share: every test runs at 0, 1, 2 and 8 workers, and waits in
// one way for all of them.

#ifndef JACKDAW_TESTS_SCHEDULER_POOL_POOL_FIXTURE_H_
#define JACKDAW_TESTS_SCHEDULER_POOL_POOL_FIXTURE_H_

#include <sched.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

// Lets `pool` run until `done()`: drives it where it has no workers, else yields to them.
// A hang is ended by the test's time limit.
template <typename Done>
void RunUntil(WorkStealingPool& pool, Done&& done) {
  while (!done()) {
    if (pool.size() == 0 && pool.RunOne()) continue;
    sched_yield();
  }
}

// Until every worker is parked: what was submitted is finished, and counted.
inline void AwaitParked(WorkStealingPool& pool) {
  if (pool.size() == 0) pool.RunUntilIdle();
  RunUntil(pool, [&] { return pool.stats().parked == pool.size(); });
}

// Runs `body` in the pool; the runner must not have been shut down.
template <typename Body>
void Go(WorkStealingPool& pool, Body&& body) {
  ASSERT_TRUE(pool.Run(std::forward<Body>(body)).ok());
}

// Pushes `body` on the deque of the worker that runs the calling task.
template <typename Body>
void Spawn(Body&& body) {
  WorkerContext::Current()->Push(MakeTask(std::forward<Body>(body)));
}

// The workers' counters added up.
inline WorkerStats Total(const WorkStealingPool& pool) {
  WorkerStats total;
  for (const WorkerStats& one : pool.worker_stats()) {
    total.tasks += one.tasks;
    total.from_own_deque += one.from_own_deque;
    total.from_steals += one.from_steals;
    total.from_injector += one.from_injector;
    total.from_mailbox += one.from_mailbox;
    total.inline_runs += one.inline_runs;
    total.dropped += one.dropped;
    total.steals_taken += one.steals_taken;
    total.idle_spins += one.idle_spins;
    total.parks += one.parks;
    total.wakeups += one.wakeups;
    total.wakeups_without_work += one.wakeups_without_work;
    total.queue_depth += one.queue_depth;
    total.queue_grows += one.queue_grows;
  }
  return total;
}

// The identity that worker_stats.h promises, and that nothing is left.
inline void ExpectExactCounters(const WorkStealingPool& pool) {
  const WorkerStats total = Total(pool);
  EXPECT_EQ(total.tasks, total.from_own_deque + total.from_steals + total.from_injector +
                             total.from_mailbox + total.inline_runs);
  EXPECT_EQ(total.steals_taken, total.from_steals);
  EXPECT_EQ(total.queue_depth, 0);
  EXPECT_EQ(pool.stats().injector_depth, 0);
  EXPECT_EQ(pool.task_count(), 0);
}

// A test at each of the worker counts.
class PoolTestBase : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static WorkStealingPool::Options Options() { return {.workers = GetParam()}; }
};

inline std::string WorkerCountName(const testing::TestParamInfo<int>& info) {
  return std::to_string(info.param) + "Workers";
}

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_POOL_POOL_FIXTURE_H_
