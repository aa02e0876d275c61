// Jobs with weights at 0, 1, 2 and 8 workers: never more at a time than fits, and each begins
// in the end.

#include "scheduler/async/weighted_jobs.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/fiber_groups.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using WeightedJobsTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, WeightedJobsTest, ::testing::Values(0, 1, 2, 8));

TEST_P(WeightedJobsTest, NeverUseMoreThanThereIs) {
  constexpr std::int64_t kUnits = 10;
  WeightedJobs jobs(kUnits);
  std::atomic<std::int64_t> used{0};
  std::atomic<bool> too_much{false};
  const auto use = [&](std::int64_t weight) {
    return [&, weight]() -> CoTask<void> {
      if ((used += weight) > kUnits) too_much = true;
      co_await Yield();
      used -= weight;
    };
  };
  std::vector<Fiber<void>> fibers;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t weight = i % kUnits + 1;
    fibers.push_back(SpawnFiber(pool_, jobs.Job(weight, use(weight))));
  }
  for (const Fiber<void>& fiber : fibers) {
    EXPECT_EQ(Settle(pool_, fiber.future()), absl::OkStatus());
  }
  EXPECT_FALSE(too_much);
  EXPECT_EQ(jobs.available(), kUnits);
  EXPECT_EQ(jobs.waiting(), 0u);
}

TEST_P(WeightedJobsTest, TakeAnyBodyAndGiveItsResult) {
  WeightedJobs jobs(2);
  const Fiber<int> sum = SpawnFiber(pool_, [&]() -> CoTask<int> {
    const Fiber<int> plain = SpawnChild(jobs.Job(1, [] { return 1; }));
    Fiber<std::unique_ptr<int>> owned =
        SpawnChild(jobs.Job(2, [] { return std::make_unique<int>(2); }));
    const auto wait = []() -> CoTask<int> {
      co_await Yield();
      co_return 3;
    };
    const Fiber<int> coroutine = SpawnChild(jobs.Job(1, wait()));
    const absl::StatusOr<int>& one = co_await plain;
    const absl::StatusOr<std::unique_ptr<int>> two = co_await std::move(owned);
    const absl::StatusOr<int>& three = co_await coroutine;
    co_return *one + **two + *three;
  });
  EXPECT_EQ(Settle(pool_, sum.future()).value(), 6);
}

TEST_P(WeightedJobsTest, AreBodiesOfGroups) {
  WeightedJobs jobs(3);
  const auto give = [] { return 1; };
  std::vector<decltype(jobs.Job(1, give))> bodies;
  for (int i = 0; i < 20; ++i) bodies.push_back(jobs.Job(i % 3 + 1, give));
  const Future<std::vector<int>> all = Spawn(pool_, AllOf(std::move(bodies)));
  EXPECT_EQ(Settle(pool_, all).value(), std::vector<int>(20, 1));
}

TEST_P(WeightedJobsTest, OneThatCanNeverFitIsRefused) {
  WeightedJobs jobs(3);
  bool ran = false;
  for (const std::int64_t weight : {-1, 0, 4}) {
    const Fiber<void> fiber = SpawnFiber(pool_, jobs.Job(weight, [&] { ran = true; }));
    EXPECT_TRUE(absl::IsInvalidArgument(Settle(pool_, fiber.future()))) << weight;
  }
  EXPECT_FALSE(ran);
}

TEST(WeightedJobsOrderTest, AHeavyOneIsNotOvertaken) {
  ManualRunner runner;
  WeightedJobs jobs(2);
  const Promise<void> gate;
  std::string order;
  const auto job = [&](char name) {
    return [&, name]() -> CoTask<void> {
      order += name;
      const Future<void> opened = gate.future();
      (void)co_await opened;
    };
  };
  const Fiber<void> first = SpawnFiber(runner, jobs.Job(1, job('a')));
  const Fiber<void> heavy = SpawnFiber(runner, jobs.Job(2, job('H')));
  const Fiber<void> light = SpawnFiber(runner, jobs.Job(1, job('b')));
  runner.RunAll();
  EXPECT_EQ(order, "a");
  EXPECT_EQ(jobs.waiting(), 2u);
  gate.Fulfil();
  runner.RunAll();
  EXPECT_EQ(order, "aHb");
  EXPECT_TRUE(light.is_success());
}

TEST(WeightedJobsCancelTest, OneThatWaitsLeavesTheLine) {
  ManualRunner runner;
  WeightedJobs jobs(1);
  const Promise<void> gate;
  bool ran = false;
  const auto hold = [opened = gate.future()]() -> CoTask<void> { (void)co_await opened; };
  const Fiber<void> holder = SpawnFiber(runner, jobs.Job(1, hold));
  const Fiber<void> waiting = SpawnFiber(runner, jobs.Job(1, [&] { ran = true; }));
  runner.RunAll();
  waiting.Cancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(waiting.Wait()));
  EXPECT_EQ(jobs.waiting(), 0u);
  gate.Fulfil();
  runner.RunAll();
  EXPECT_TRUE(holder.is_success());
  EXPECT_EQ(jobs.available(), 1);
  EXPECT_FALSE(ran);
}

// What the body owned is gone before its units are somebody else's.
TEST(WeightedJobsLifetimeTest, BodiesDieBeforeTheirUnitsAreGiven) {
  ManualRunner runner;
  WeightedJobs jobs(1);
  auto memory = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = memory;
  bool was_gone = false;
  const Fiber<void> first = SpawnFiber(runner, jobs.Job(1, [owned = std::move(memory)] {}));
  const Fiber<void> second = SpawnFiber(runner, jobs.Job(1, [&] { was_gone = watch.expired(); }));
  runner.RunAll();
  EXPECT_TRUE(second.is_success());
  EXPECT_TRUE(was_gone);
}

}  // namespace
}  // namespace jackdaw
