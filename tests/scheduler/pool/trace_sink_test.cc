// What a pool tells its trace sink, compared with what it counts itself.

#include "scheduler/pool/trace_sink.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/pool/blocking_region.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// Counts by worker, in plain numbers: ThreadSanitizer sees where two threads speak for one.
class CountingSink final : public TraceSink {
 public:
  struct Counts {
    std::int64_t begun = 0;
    std::int64_t ended = 0;
    std::int64_t stolen = 0;
    std::int64_t spawned = 0;
    std::int64_t parked = 0;
    std::int64_t unparked = 0;
    int open = 0;
    bool asleep = false;
    const Task* stolen_task = nullptr;
  };

  explicit CountingSink(int workers) : counts_(static_cast<std::size_t>(workers)) {}

  [[nodiscard]] Counts Sum() const {
    Counts sum;
    for (const Counts& one : counts_) {
      EXPECT_EQ(one.open, 0);
      EXPECT_FALSE(one.asleep);
      sum.begun += one.begun;
      sum.ended += one.ended;
      sum.stolen += one.stolen;
      sum.spawned += one.spawned;
      sum.parked += one.parked;
      sum.unparked += one.unparked;
    }
    return sum;
  }

  void TaskBegins(int worker, const Task& task, Origin origin) noexcept override {
    Counts& counts = Of(worker);
    EXPECT_FALSE(counts.asleep);
    const bool stolen = counts.stolen_task != nullptr;
    EXPECT_TRUE(!stolen || counts.stolen_task == &task);
    EXPECT_TRUE(stolen || origin != Origin::kStolen);
    EXPECT_TRUE(!stolen || origin == Origin::kStolen || origin == Origin::kMailbox);
    counts.stolen_task = nullptr;
    ++counts.begun;
    ++counts.open;
  }
  void TaskEnds(int worker) noexcept override {
    ++Of(worker).ended;
    --Of(worker).open;
  }
  void Steals(int thief, int victim, const Task& task) noexcept override {
    EXPECT_NE(thief, victim);
    ++Of(thief).stolen;
    Of(thief).stolen_task = &task;
  }
  void Spawns(int worker, const Task&) noexcept override {
    EXPECT_GT(Of(worker).open, 0);
    ++Of(worker).spawned;
  }
  void Parks(int worker) noexcept override {
    EXPECT_EQ(Of(worker).open, 0);
    EXPECT_FALSE(Of(worker).asleep);
    Of(worker).asleep = true;
    ++Of(worker).parked;
  }
  void Unparks(int worker) noexcept override {
    EXPECT_TRUE(Of(worker).asleep);
    Of(worker).asleep = false;
    ++Of(worker).unparked;
  }
  void ScopeBegins(int, const char*) noexcept override {}
  void ScopeEnds(int) noexcept override {}

 private:
  Counts& Of(int worker) {
    const WorkerContext* here = WorkerContext::Current();
    EXPECT_EQ(here->index(), worker);
    EXPECT_EQ(here->trace(), this);
    return counts_[static_cast<std::size_t>(worker)];
  }
  std::vector<Counts> counts_;
};

class TraceSinkTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, TraceSinkTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(TraceSinkTest, SaysWhatThePoolCounts) {
  CountingSink sink(64);
  WorkStealingPool pool({.workers = GetParam(), .max_blocked = 8, .trace = &sink});
  constexpr int kRoots = 500;
  for (int i = 0; i < kRoots; ++i) {
    const auto root = [&pool, i] {
      Spawn([] {});
      EXPECT_TRUE(pool.RunOn(i, [] {}).ok());
      WorkerContext::Current()->PushBehind(MakeTask([] { const BlockingRegion region; }));
    };
    if (i % 2 == 0) {
      Go(pool, root);
    } else {
      ASSERT_TRUE(pool.RunOn(i, root).ok());
    }
  }
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  const CountingSink::Counts said = sink.Sum();
  const WorkerStats counted = Total(pool);
  EXPECT_EQ(counted.tasks, kRoots * 4);
  EXPECT_EQ(said.begun, counted.tasks);
  EXPECT_EQ(said.ended, counted.tasks);
  EXPECT_EQ(said.spawned, counted.tasks - pool.stats().injected);
  EXPECT_GE(said.stolen, counted.from_steals);
  EXPECT_LE(said.stolen, counted.from_steals + counted.from_mailbox);
  EXPECT_EQ(said.parked, counted.parks);
  EXPECT_EQ(said.unparked, counted.wakeups);
  ExpectExactCounters(pool);
}

TEST_P(TraceSinkTest, TasksThatAreDroppedAreNotBegun) {
  CountingSink sink(16);
  WorkStealingPool pool({.workers = GetParam(), .max_blocked = 0, .trace = &sink});
  for (int i = 0; i < 1000; ++i) Go(pool, [] { Spawn([] {}); });
  pool.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_EQ(sink.Sum().begun, Total(pool).tasks);
  EXPECT_EQ(sink.Sum().begun + Total(pool).dropped, pool.stats().injected + sink.Sum().spawned);
}

TEST(TraceSinkNestingTest, TaskThatRunsAnotherLiesAroundIt) {
  CountingSink sink(1);
  WorkStealingPool pool({.workers = 0, .trace = &sink});
  Go(pool, [&] {
    Go(pool, [] {});
    EXPECT_TRUE(pool.RunOne());
  });
  EXPECT_EQ(pool.RunUntilIdle(), 1);
  EXPECT_EQ(sink.Sum().begun, 2);
}

TEST(TraceSinkNestingTest, WithoutASinkAWorkerHasNone) {
  WorkStealingPool pool({.workers = 0});
  Go(pool, [] { EXPECT_EQ(WorkerContext::Current()->trace(), nullptr); });
  EXPECT_EQ(pool.RunUntilIdle(), 1);
}

}  // namespace
}  // namespace jackdaw
