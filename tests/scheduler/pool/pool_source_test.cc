// Work that a pool finds outside of its deques.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_source.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// A queue under a lock, first in, first out.
class QueueSource final : public WorkSource {
 public:
  template <typename Body>
  void Add(Body&& body) {
    absl::MutexLock lock(&mutex_);
    queue_.push_back(MakeTask(std::forward<Body>(body)));
    size_.fetch_add(1);
  }
  [[nodiscard]] std::size_t Take(absl::Span<Task*> out) override {
    absl::MutexLock lock(&mutex_);
    const std::size_t count = std::min(out.size(), queue_.size());
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = queue_.front();
      queue_.pop_front();
    }
    size_.fetch_sub(count);
    return count;
  }
  [[nodiscard]] bool HasWork() const override { return size_.load() != 0; }
  [[nodiscard]] std::size_t size() const { return size_.load(); }

 private:
  absl::Mutex mutex_;
  std::deque<Task*> queue_;
  std::atomic<std::size_t> size_{0};
};

class PoolSourceTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, PoolSourceTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(PoolSourceTest, RunsWhatTheSourceHolds) {
  QueueSource source;
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) source.Add([&] { ran.fetch_add(1); });
  pool.AttachSource(&source);
  RunUntil(pool, [&] { return ran.load() == 1000; });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).from_injector, 0);
  EXPECT_EQ(Total(pool).tasks, 1000);
  ExpectExactCounters(pool);
  pool.DetachSource();
}

TEST_P(PoolSourceTest, NotifyWakesAParkedPool) {
  QueueSource source;
  WorkStealingPool pool(Options());
  pool.AttachSource(&source);
  std::atomic<int> ran{0};
  for (int i = 0; i < 500; ++i) {
    if (i % 2 == 0) AwaitParked(pool);
    source.Add([&] { ran.fetch_add(1); });
    pool.NotifySource();
    RunUntil(pool, [&] { return ran.load() == i + 1; });
  }
  pool.DetachSource();
}

TEST_P(PoolSourceTest, IsNotStarvedByTasksThatSpawnForEver) {
  QueueSource source;
  WorkStealingPool pool(Options());
  std::atomic<bool> stop{false};
  struct Forever {
    static void Run(std::atomic<bool>& stop) {
      if (!stop.load()) Spawn([&stop] { Run(stop); });
    }
  };
  for (int i = 0; i < std::max(1, pool.size()); ++i) Go(pool, [&stop] { Forever::Run(stop); });
  std::atomic<bool> done{false};
  source.Add([&] { done.store(true); });
  pool.AttachSource(&source);
  RunUntil(pool, [&] { return done.load(); });
  stop.store(true);
  pool.DetachSource();
}

TEST_P(PoolSourceTest, DrainEmptiesIt) {
  QueueSource source;
  std::atomic<int> ran{0};
  WorkStealingPool pool(Options());
  pool.AttachSource(&source);
  for (int i = 0; i < 500; ++i) {
    source.Add([&] {
      ran.fetch_add(1);
      source.Add([&] { ran.fetch_add(1); });
    });
  }
  pool.NotifySource();
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 1000);
  EXPECT_EQ(source.size(), 0u);
}

TEST_P(PoolSourceTest, CancelLeavesItAlone) {
  QueueSource source;
  WorkStealingPool pool(Options());
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) source.Add([&] { ran.fetch_add(1); });
  pool.AttachSource(&source);
  pool.NotifySource();
  EXPECT_EQ(source.size(), 10u);
  EXPECT_EQ(ran.load(), 0);
  pool.DetachSource();
  std::vector<Task*> left(10);
  EXPECT_EQ(source.Take(absl::MakeSpan(left)), 10u);
  for (Task* task : left) task->Drop();
}

TEST_P(PoolSourceTest, CancelInTheMiddleAccountsForEveryTask) {
  for (int round = 0; round < 20; ++round) {
    QueueSource source;
    WorkStealingPool pool(Options());
    std::atomic<int> ran{0};
    for (int i = 0; i < 2000; ++i) source.Add([&] { ran.fetch_add(1); });
    pool.AttachSource(&source);
    for (int i = 0; i < round; ++i) sched_yield();
    pool.ShutdownAndWait(ShutdownMode::kCancel);
    pool.DetachSource();
    EXPECT_EQ(static_cast<std::size_t>(ran.load() + Total(pool).dropped) + source.size(), 2000u);
    std::vector<Task*> left(source.size());
    EXPECT_EQ(source.Take(absl::MakeSpan(left)), left.size());
    for (Task* task : left) task->Drop();
  }
}

TEST_P(PoolSourceTest, DetachedSourceIsNotCalledAgain) {
  WorkStealingPool pool(Options());
  for (int round = 0; round < 200; ++round) {
    auto source = std::make_unique<QueueSource>();
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) source->Add([&] { ran.fetch_add(1); });
    pool.AttachSource(source.get());
    RunUntil(pool, [&] { return ran.load() == 3; });
    // Workers still look into it on their way to park: AddressSanitizer would tell.
    pool.DetachSource();
    source.reset();
  }
}

TEST(PoolSourceThreadsTest, DetachWaitsForTheWorkerInside) {
  class SlowSource final : public WorkSource {
   public:
    [[nodiscard]] std::size_t Take(absl::Span<Task*>) override {
      if (!entered.HasBeenNotified()) {
        entered.Notify();
        leave.WaitForNotification();
        left.store(true);
      }
      return 0;
    }
    [[nodiscard]] bool HasWork() const override { return false; }
    absl::Notification entered;
    absl::Notification leave;
    std::atomic<bool> left{false};
  };
  SlowSource source;
  WorkStealingPool pool({.workers = 1});
  AwaitParked(pool);
  pool.AttachSource(&source);
  source.entered.WaitForNotification();
  std::atomic<bool> detached{false};
  std::thread detacher([&] {
    pool.DetachSource();
    EXPECT_TRUE(source.left.load());
    detached.store(true);
  });
  for (int i = 0; i < 100; ++i) sched_yield();
  EXPECT_FALSE(detached.load());
  source.leave.Notify();
  detacher.join();
}

TEST(PoolSourceWithoutWorkersTest, TasksOfABatchRunInTheSourcesOrder) {
  QueueSource source;
  WorkStealingPool pool({.workers = 0});
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) source.Add([&order, i] { order.push_back(i); });
  pool.AttachSource(&source);
  EXPECT_EQ(pool.RunUntilIdle(), 20);
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(order, sorted);
  EXPECT_EQ(Total(pool).from_own_deque, 20);
  pool.DetachSource();
}

// The source keeps what does not fit a bounded window, so that it can still be reordered.
TEST(PoolSourceWithoutWorkersTest, OnlyAWindowIsTakenAtOnce) {
  QueueSource source;
  WorkStealingPool pool({.workers = 0});
  for (int i = 0; i < 1000; ++i) source.Add([] {});
  pool.AttachSource(&source);
  EXPECT_TRUE(pool.RunOne());
  EXPECT_GE(source.size(), 1000u - 32u);
  pool.RunUntilIdle();
  pool.DetachSource();
}

}  // namespace
}  // namespace jackdaw
