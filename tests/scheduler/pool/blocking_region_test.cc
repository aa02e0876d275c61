// Tasks that block and say so: the pool goes on. By rendezvous of more tasks than there are
// workers, which hang (and meet the test's time limit) where nobody stands in.

#include "scheduler/pool/blocking_region.h"

#include <atomic>
#include <cerrno>
#include <memory>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/pool/compensation.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// Submits `count` tasks that all wait for each other in blocking regions, from outside or from a
// task, and returns once all have met.
void Meet(WorkStealingPool& pool, int count, bool from_outside) {
  auto* barrier = new absl::Barrier(count);
  std::atomic<int> left{count};
  const auto meet = [&left, barrier] {
    {
      const BlockingRegion region;
      if (barrier->Block()) delete barrier;
    }
    left.fetch_sub(1);
  };
  if (from_outside) {
    for (int i = 0; i < count; ++i) Go(pool, meet);
  } else {
    Go(pool, [&] {
      for (int i = 0; i < count; ++i) Spawn(meet);
    });
  }
  RunUntil(pool, [&] { return left.load() == 0; });
}

class BlockingRegionTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, BlockingRegionTest, testing::Values(1, 2, 8), WorkerCountName);

// domainslib#114: a hundred tasks that block at once.
TEST_P(BlockingRegionTest, AHundredTasksThatWaitForEachOtherAllGetToRun) {
  for (const bool from_outside : {true, false}) {
    WorkStealingPool pool({.workers = GetParam(), .max_blocked = 100});
    Meet(pool, 100, from_outside);
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    EXPECT_EQ(pool.stats().blocked, 0);
    EXPECT_EQ(Total(pool).tasks, from_outside ? 100 : 101);
    ExpectExactCounters(pool);
  }
}

TEST_P(BlockingRegionTest, ExtraWorkersRetireOnceNobodyBlocks) {
  WorkStealingPool pool({.workers = GetParam()});
  for (int round = 0; round < 20; ++round) {
    Meet(pool, 20, round % 2 == 0);
    RunUntil(pool, [&] { return pool.stats().extra == 0; });
    AwaitParked(pool);
  }
  EXPECT_EQ(pool.stats().blocked, 0);
  EXPECT_LE(pool.worker_stats().size(), static_cast<std::size_t>(pool.max_workers()));
}

TEST_P(BlockingRegionTest, PoolWorksWithAllItsWorkersWhileOneBlocks) {
  WorkStealingPool pool({.workers = GetParam(), .max_blocked = 1});
  absl::Notification release;
  Go(pool, [&] {
    const BlockingRegion region;
    release.WaitForNotification();
  });
  RunUntil(pool, [&] { return pool.stats().extra == 1; });
  // As many as the pool has, and without regions.
  auto* barrier = new absl::Barrier(GetParam());
  std::atomic<int> left{GetParam()};
  for (int i = 0; i < GetParam(); ++i) {
    Go(pool, [&, barrier] {
      if (barrier->Block()) delete barrier;
      left.fetch_sub(1);
    });
  }
  RunUntil(pool, [&] { return left.load() == 0; });
  release.Notify();
}

TEST_P(BlockingRegionTest, TasksOfTheBlockedWorkerAreRunByOthers) {
  WorkStealingPool pool({.workers = GetParam()});
  std::atomic<int> children{0};
  std::atomic<bool> done{false};
  Go(pool, [&] {
    for (int i = 0; i < 100; ++i) Spawn([&] { children.fetch_add(1); });
    const BlockingRegion region;
    while (children.load() != 100) sched_yield();
    done.store(true);
  });
  RunUntil(pool, [&] { return done.load(); });
}

TEST_P(BlockingRegionTest, BeyondTheCapItBlocksTheWorkerAndNothingIsLost) {
  WorkStealingPool pool({.workers = GetParam(), .max_blocked = 0});
  absl::Notification release;
  std::atomic<int> ran{0};
  Go(pool, [&] {
    const BlockingRegion region;
    EXPECT_EQ(pool.stats().extra, 0);
    release.WaitForNotification();
  });
  for (int i = 0; i < 100; ++i) Go(pool, [&] { ran.fetch_add(1); });
  release.Notify();
  RunUntil(pool, [&] { return ran.load() == 100; });
  EXPECT_EQ(pool.max_workers(), GetParam());
}

TEST_P(BlockingRegionTest, RefusedThreadIsDoneWithout) {
  int created = 0;
  absl::Mutex mutex;
  WorkStealingPool pool({.workers = GetParam(),
                         .create_thread = [&](pthread_t* t, void* (*body)(void*), void* argument) {
                           absl::MutexLock lock(&mutex);
                           if (created == GetParam()) return EAGAIN;
                           ++created;
                           return pthread_create(t, nullptr, body, argument);
                         }});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    Go(pool, [&] {
      const BlockingRegion region;
      ran.fetch_add(1);
    });
  }
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 100);
  EXPECT_EQ(pool.stats().extra, 0);
  ExpectExactCounters(pool);
}

// Slots are wanted again while the threads of the last round are still leaving them.
TEST_P(BlockingRegionTest, AsManyAsTheCapBlockAgainAndAgain) {
  WorkStealingPool pool({.workers = GetParam(), .max_blocked = 4});
  for (int round = 0; round < 100; ++round) Meet(pool, GetParam() + 4, round % 2 == 0);
  RunUntil(pool, [&] { return pool.stats().extra == 0; });
}

TEST_P(BlockingRegionTest, NestedRegionsCountOnce) {
  WorkStealingPool pool({.workers = GetParam()});
  std::atomic<bool> done{false};
  Go(pool, [&] {
    const BlockingRegion outer;
    const BlockingRegion inner;
    EXPECT_EQ(pool.stats().blocked, 1);
    done.store(true);
  });
  RunUntil(pool, [&] { return done.load() && pool.stats().blocked == 0; });
}

// Shutdown at any moment of regions that come and go; extra workers end with the pool.
TEST_P(BlockingRegionTest, ShutdownWaitsForThoseThatBlockAndThoseThatStandIn) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> started{0};
    std::atomic<int> starts{0};
    std::atomic<int> exits{0};
    {
      WorkStealingPool pool({.workers = GetParam(),
                             .on_thread_start = [&](int) { starts.fetch_add(1); },
                             .on_thread_exit = [&](int) { exits.fetch_add(1); }});
      for (int i = 0; i < 20; ++i) {
        Go(pool, [&] {
          const BlockingRegion region;
          started.fetch_add(1);
          for (int n = 0; n < round; ++n) sched_yield();
        });
      }
      for (int i = 0; i < round; ++i) sched_yield();
    }
    ASSERT_EQ(started.load(), 20);
    ASSERT_EQ(starts.load(), exits.load());
  }
}

TEST(BlockingRegionElsewhereTest, DoesNothingOffThePoolAndWithoutThreads) {
  const BlockingRegion off_any_runner;
  WorkStealingPool pool({.workers = 0});
  Go(pool, [&] {
    const BlockingRegion region;
    EXPECT_EQ(pool.stats().blocked, 0);
  });
  EXPECT_EQ(pool.RunUntilIdle(), 1);
  EXPECT_EQ(pool.max_workers(), 1);
  FifoPool fifo({.threads = 1});
  ASSERT_TRUE(fifo.Run([] { const BlockingRegion region; }).ok());
}

TEST(CompensationTest, StaffsOnePerBlockedUpToTheCapAndReusesSlots) {
  Compensation extra(4, 2);
  EXPECT_EQ(extra.Begin(), 4);
  EXPECT_EQ(extra.Begin(), 5);
  EXPECT_EQ(extra.Begin(), Compensation::kNoSlot);
  EXPECT_FALSE(extra.Retire());
  EXPECT_FALSE(extra.End());  // Two are blocked, two stand in.
  EXPECT_TRUE(extra.End());
  EXPECT_TRUE(extra.surplus());
  EXPECT_TRUE(extra.Retire());
  EXPECT_FALSE(extra.Retire());
  EXPECT_EQ(extra.staffed(), 1);
  // The slot is not free before its thread is done with it.
  EXPECT_EQ(extra.Begin(), Compensation::kNoSlot);
  EXPECT_FALSE(extra.End());
  EXPECT_FALSE(extra.Vacate(5));
  EXPECT_EQ(extra.Begin(), 5);
}

TEST(CompensationTest, SlotThatIsLeftIsStaffedAgainWhereOneBlocksWithout) {
  Compensation extra(4, 1);
  EXPECT_EQ(extra.Begin(), 4);
  EXPECT_TRUE(extra.End());
  EXPECT_TRUE(extra.Retire());
  EXPECT_EQ(extra.Begin(), Compensation::kNoSlot);  // Its thread has not left yet.
  EXPECT_TRUE(extra.Vacate(4));
  EXPECT_EQ(extra.staffed(), 1);
  EXPECT_TRUE(extra.End());
}

}  // namespace
}  // namespace jackdaw
