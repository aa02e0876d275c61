// How a pool ends: drained or cancelled, from outside and from within, once and many times.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"
#include "tests/scheduler/pool/counted_task.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

class PoolShutdownTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, PoolShutdownTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(PoolShutdownTest, DrainRunsEverythingAccepted) {
  WorkStealingPool pool(Options());
  std::vector<CountedTask> tasks(1000);
  for (CountedTask& task : tasks) ASSERT_TRUE(pool.Submit(&task));
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  for (const CountedTask& task : tasks) {
    ASSERT_EQ(task.runs(), 1);
    ASSERT_EQ(task.drops(), 0);
  }
  ExpectExactCounters(pool);
}

// tensorflow#933: what tasks spawn while the pool drains was lost.
TEST_P(PoolShutdownTest, DrainRunsWhatTasksSpawnMeanwhile) {
  std::atomic<int> ran{0};
  struct Tree {
    static void Grow(std::atomic<int>& ran, int depth) {
      ran.fetch_add(1);
      for (int i = 0; i < 2 && depth > 0; ++i) Spawn([&ran, depth] { Grow(ran, depth - 1); });
    }
  };
  {
    WorkStealingPool pool(Options());
    Go(pool, [&] { Tree::Grow(ran, 15); });
  }
  EXPECT_EQ(ran.load(), (1 << 16) - 1);
}

TEST_P(PoolShutdownTest, CancelDropsWhatHasNotStarted) {
  WorkStealingPool pool(Options());
  absl::Notification release;
  std::atomic<int> running{0};
  for (int i = 0; i < pool.size(); ++i) {
    Go(pool, [&] {
      running.fetch_add(1);
      release.WaitForNotification();
    });
  }
  RunUntil(pool, [&] { return running.load() == pool.size(); });
  std::vector<CountedTask> tasks(100);
  for (CountedTask& task : tasks) ASSERT_TRUE(pool.Submit(&task));
  pool.Shutdown(ShutdownMode::kCancel);
  release.Notify();
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  for (const CountedTask& task : tasks) {
    ASSERT_EQ(task.runs(), 0);
    ASSERT_EQ(task.drops(), 1);
  }
  EXPECT_EQ(Total(pool).dropped, 100);
  EXPECT_EQ(Total(pool).tasks, pool.size());
  ExpectExactCounters(pool);
}

TEST_P(PoolShutdownTest, CancelAlsoDropsWhatRunningTasksSpawn) {
  WorkStealingPool pool(Options());
  CountedTask child;
  std::atomic<bool> cancelled{false};
  std::atomic<bool> running{false};
  Go(pool, [&] {
    running.store(true);
    if (pool.size() == 0) pool.Shutdown(ShutdownMode::kCancel);
    while (pool.size() != 0 && !cancelled.load()) sched_yield();
    EXPECT_TRUE(pool.Submit(&child));
  });
  RunUntil(pool, [&] { return running.load(); });
  pool.Shutdown(ShutdownMode::kCancel);
  cancelled.store(true);
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_EQ(child.runs(), 0);
  EXPECT_EQ(child.drops(), 1);
}

TEST_P(PoolShutdownTest, DrainCanTurnIntoCancel) {
  WorkStealingPool pool(Options());
  std::atomic<std::int64_t> spawned{0};
  struct Forever {
    static void Run(std::atomic<std::int64_t>& spawned) {
      spawned.fetch_add(1);
      Spawn([&spawned] { Run(spawned); });
    }
  };
  Go(pool, [&] { Forever::Run(spawned); });
  pool.Shutdown(ShutdownMode::kDrain);
  RunUntil(pool, [&] { return spawned.load() > 100; });
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_EQ(Total(pool).dropped, 1);
}

TEST_P(PoolShutdownTest, SubmitAfterwardsIsRefused) {
  WorkStealingPool pool(Options());
  pool.Shutdown(ShutdownMode::kDrain);
  CountedTask task;
  EXPECT_FALSE(pool.Submit(&task));
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_FALSE(pool.Submit(&task));
  EXPECT_EQ(task.runs() + task.drops(), 0);

  const auto held = std::make_shared<int>(1);
  const absl::Status status = pool.Run([held] { FAIL() << "ran after the shutdown"; });
  EXPECT_EQ(status, absl::UnavailableError("runner 'compute' has been shut down"));
  EXPECT_EQ(held.use_count(), 1) << "the refused closure is freed";
}

TEST_P(PoolShutdownTest, IsIdempotentAndConcurrentCallersAllWait) {
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) Go(pool, [&] { ran.fetch_add(1); });
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      pool.ShutdownAndWait(ShutdownMode::kDrain);
      EXPECT_EQ(ran.load(), 1000);
    });
  }
  for (std::thread& caller : callers) caller.join();
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_EQ(ran.load(), 1000);
}

TEST_P(PoolShutdownTest, FromItsOwnTaskItDoesNotWaitForItself) {
  std::atomic<int> ran{0};
  {
    WorkStealingPool pool(Options());
    Go(pool, [&] {
      Spawn([&] { ran.fetch_add(1); });
      pool.ShutdownAndWait(ShutdownMode::kDrain);
      Spawn([&] { ran.fetch_add(1); });
    });
    RunUntil(pool, [&] { return ran.load() == 2; });
  }
  EXPECT_EQ(ran.load(), 2);
}

TEST_P(PoolShutdownTest, PoolMayBeDestroyedByItsOwnTask) {
  std::atomic<int> ran{0};
  std::atomic<int> exits{0};
  auto options = Options();
  options.on_thread_exit = [&](int) { exits.fetch_add(1); };
  auto owned = std::make_unique<WorkStealingPool>(options);
  WorkStealingPool* pool = owned.get();
  absl::Notification handed_over;
  for (int i = 0; i < 100; ++i) {
    Go(*pool, [&] { ran.fetch_add(1); });
  }
  Go(*pool, [&] {
    handed_over.WaitForNotification();
    owned.reset();
    ran.fetch_add(1);
  });
  handed_over.Notify();
  if (GetParam() == 0) pool->RunUntilIdle();
  while (ran.load() != 101 || exits.load() != GetParam()) sched_yield();
}

// tensorflow#932, and submitters that race with the shutdown: what was accepted ran, what
// was refused did not.
TEST_P(PoolShutdownTest, EveryTaskIsEitherRefusedOrRunsOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    std::atomic<int> accepted{0};
    WorkStealingPool pool(Options());
    std::vector<std::thread> submitters;
    std::atomic<int> started{0};
    for (int s = 0; s < 3; ++s) {
      submitters.emplace_back([&] {
        started.fetch_add(1);
        while (pool.Run([&] {
                     ran.fetch_add(1);
                     Spawn([&] { ran.fetch_add(1); });
                   })
                   .ok()) {
          accepted.fetch_add(2);
        }
      });
    }
    while (started.load() != 3) sched_yield();
    for (int i = 0; i < round; ++i) sched_yield();
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    for (std::thread& submitter : submitters) submitter.join();
    ASSERT_EQ(ran.load(), accepted.load());
    ExpectExactCounters(pool);
  }
}

TEST_P(PoolShutdownTest, CancelInTheMiddleRunsOrDropsEachTaskOnce) {
  for (int round = 0; round < 20; ++round) {
    std::vector<CountedTask> tasks(500);
    WorkStealingPool pool(Options());
    std::thread submitter([&] {
      for (CountedTask& task : tasks) {
        if (!pool.Submit(&task)) return;
      }
    });
    for (int i = 0; i < round * 4; ++i) sched_yield();
    pool.ShutdownAndWait(ShutdownMode::kCancel);
    submitter.join();
    std::int64_t runs = 0;
    std::int64_t drops = 0;
    for (const CountedTask& task : tasks) {
      ASSERT_LE(task.runs() + task.drops(), 1);
      runs += task.runs();
      drops += task.drops();
    }
    EXPECT_EQ(runs + drops, pool.stats().injected);
    EXPECT_EQ(Total(pool).tasks, runs);
    EXPECT_EQ(Total(pool).dropped, drops);
  }
}

}  // namespace
}  // namespace jackdaw
