// Wishes for a worker: they are met where that costs nobody anything, and never strand work.

#include "scheduler/pool/mailbox.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/counted_task.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

TEST(MailboxTest, GivesTasksInTheirOrder) {
  Mailbox mailbox;
  std::array<CountedTask, 3> tasks;
  EXPECT_FALSE(mailbox.HasTask());
  EXPECT_EQ(mailbox.Take(), nullptr);
  ASSERT_TRUE(mailbox.Push(&tasks[0]));
  mailbox.PushOwn(&tasks[1]);
  EXPECT_TRUE(mailbox.HasTask());
  EXPECT_EQ(mailbox.Take(), &tasks[0]);
  EXPECT_EQ(mailbox.Take(), &tasks[1]);
  EXPECT_FALSE(mailbox.HasTask());
  EXPECT_EQ(mailbox.from_outside(), 1);
}

TEST(MailboxTest, ClosedRefusesWhatComesFromOutsideAlone) {
  Mailbox mailbox;
  std::array<CountedTask, 2> tasks;
  mailbox.Close();
  EXPECT_FALSE(mailbox.Push(&tasks[0]));
  mailbox.PushOwn(&tasks[1]);
  EXPECT_EQ(mailbox.Take(), &tasks[1]);
}

class WishTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, WishTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(WishTest, EachTaskRunsOnceAndCountsAsMail) {
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  constexpr int kTasks = 1000;
  for (int i = 0; i < kTasks; ++i) {
    ASSERT_TRUE(pool.RunOn(i,
                           [&, i] {
                             ran.fetch_add(1);
                             EXPECT_EQ(WorkerContext::Current()->origin(), Origin::kMailbox);
                             if (i % 2 == 0) {
                               EXPECT_TRUE(pool.RunOn(i + 1, [&] { ran.fetch_add(1); }).ok());
                             }
                           })
                    .ok());
  }
  RunUntil(pool, [&] { return ran.load() == kTasks * 3 / 2; });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).from_mailbox, kTasks * 3 / 2);
  EXPECT_EQ(pool.stats().injected, kTasks);
  ExpectExactCounters(pool);
}

TEST_P(WishTest, MailGoesBeforeOwnTasks) {
  if (GetParam() > 1) return;  // Others could rob or steal.
  WorkStealingPool pool(Options());
  std::vector<int> order;
  Go(pool, [&] {
    Spawn([&] { order.push_back(2); });
    EXPECT_TRUE(pool.RunOn(0, [&] { order.push_back(1); }).ok());
  });
  RunUntil(pool, [&] { return pool.task_count() == 0; });
  AwaitParked(pool);
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
}

TEST_P(WishTest, DrainRunsMailAndAfterwardsItIsRefused) {
  WorkStealingPool pool(Options());
  std::vector<CountedTask> tasks(100);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_TRUE(pool.SubmitTo(static_cast<int>(i), &tasks[i]));
  }
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  for (const CountedTask& task : tasks) ASSERT_EQ(task.runs(), 1);
  CountedTask late;
  EXPECT_FALSE(pool.SubmitTo(0, &late));
  EXPECT_FALSE(pool.RunOn(0, [] {}).ok());
}

TEST_P(WishTest, CancelDropsMail) {
  WorkStealingPool pool(Options());
  std::vector<CountedTask> tasks(100);
  for (CountedTask& task : tasks) ASSERT_TRUE(pool.SubmitTo(1, &task));
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  for (const CountedTask& task : tasks) ASSERT_EQ(task.runs() + task.drops(), 1);
}

TEST_P(WishTest, KeysKeepTheirWorkerAndAreSpread) {
  WorkStealingPool pool(Options());
  std::set<int> seen;
  for (std::uint64_t key = 0; key < 1024; ++key) {
    const int worker = pool.WorkerFor(key * 64);
    EXPECT_EQ(pool.WorkerFor(key * 64), worker);
    seen.insert(worker);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(std::max(1, pool.size())));
}

// tokio#525: a task stuck in the inbox of a worker that is busy for ever.
TEST(WishThreadsTest, MailOfAWorkerThatIsStuckIsRobbed) {
  for (int workers : {2, 8}) {
    for (const absl::Duration spin : {absl::ZeroDuration(), absl::Microseconds(50)}) {
      WorkStealingPool pool({.workers = workers, .spin = spin});
      absl::Notification release;
      std::atomic<int> stuck{-1};
      std::atomic<int> ran{0};
      Go(pool, [&] {
        stuck.store(WorkerContext::Current()->index());
        release.WaitForNotification();
      });
      RunUntil(pool, [&] { return stuck.load() >= 0; });
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(pool.RunOn(stuck.load(), [&] { ran.fetch_add(1); }).ok());
      }
      RunUntil(pool, [&] { return ran.load() == 100; });
      release.Notify();
    }
  }
}

// One that searches for as long as it may reads its own mail, and stops when the pool does.
TEST(WishThreadsTest, MailToAWorkerThatSearchesIsReadAtOnce) {
  WorkStealingPool pool({.workers = 1, .spin = absl::Hours(1)});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    RunUntil(pool, [&] { return pool.stats().searching == 1; });
    ASSERT_TRUE(pool.RunOn(0, [&] { ran.fetch_add(1); }).ok());
    RunUntil(pool, [&] { return ran.load() == i + 1; });
  }
}

// enkiTS#48: mail to a worker that is falling asleep.
TEST(WishThreadsTest, MailToAWorkerThatFallsAsleepIsNeverMissed) {
  WorkStealingPool pool({.workers = 2});
  std::atomic<int> ran{0};
  for (int round = 0; round < 5'000; ++round) {
    ASSERT_TRUE(pool.RunOn(round, [&] { ran.fetch_add(1); }).ok());
    // Varies the distance to the park.
    for (int i = 0; i < round % 64; ++i) asm volatile("");
    RunUntil(pool, [&] { return ran.load() == round + 1; });
  }
}

}  // namespace
}  // namespace jackdaw
