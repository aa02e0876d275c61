// Both policies of forking from a coroutine, by the same suite, at 0, 1, 2 and 8 workers. Built
// as the rest and once more at -O0, where the compiler turns no call into a jump.

#include "scheduler/async/fork_first.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/worker_context.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

enum class Policy { kFirst, kLater };

// Forks by `policy`. As a coroutine of its own it would end before its rest is offered, so each
// use spells it out.
#define FORK(policy, child, result)        \
  if ((policy) == Policy::kFirst) {        \
    co_await ForkFirst((child), (result)); \
  } else {                                 \
    co_await ForkLater((child), (result)); \
  }

CoTask<std::int64_t> Fib(Policy policy, int n) {
  if (n < 2) co_return n;
  CoTask<std::int64_t> child = Fib(policy, n - 1);
  Future<std::int64_t> left;
  FORK(policy, child, left);
  CoTask<std::int64_t> right_task = Fib(policy, n - 2);
  const absl::StatusOr<std::int64_t> right = co_await right_task;
  const absl::StatusOr<std::int64_t>& left_value = co_await left;
  co_return *left_value + *right;
}

class ForkPolicyTest : public ::testing::TestWithParam<std::tuple<Policy, int>> {
 protected:
  [[nodiscard]] static Policy policy() { return std::get<0>(GetParam()); }
  [[nodiscard]] static int workers() { return std::get<1>(GetParam()); }
  WorkStealingPool pool_{{.name = "test", .workers = workers()}};
};
INSTANTIATE_TEST_SUITE_P(Policies, ForkPolicyTest,
                         ::testing::Combine(::testing::Values(Policy::kFirst, Policy::kLater),
                                            ::testing::Values(0, 1, 2, 8)));

TEST_P(ForkPolicyTest, Fib) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, Fib(policy(), 18))).value(), 2584);
}

// A tree of random shape whose inner nodes fork a row of children.
CoTask<std::int64_t> Tree(Policy policy, std::uint64_t seed, int depth) {
  Random random(seed);
  std::vector<Future<std::int64_t>> children(depth == 0 ? 0 : random.Below(5));
  std::int64_t sum = static_cast<std::int64_t>(random.Below(100));
  for (Future<std::int64_t>& result : children) {
    CoTask<std::int64_t> child = Tree(policy, random.Next(), depth - 1);
    FORK(policy, child, result);
  }
  for (Future<std::int64_t>& result : children) {
    const absl::StatusOr<std::int64_t>& value = co_await result;
    sum += *value;
  }
  co_return sum;
}
std::int64_t PlainTree(std::uint64_t seed, int depth) {
  Random random(seed);
  const std::uint64_t children = depth == 0 ? 0 : random.Below(5);
  std::int64_t sum = static_cast<std::int64_t>(random.Below(100));
  for (std::uint64_t i = 0; i < children; ++i) sum += PlainTree(random.Next(), depth - 1);
  return sum;
}

TEST_P(ForkPolicyTest, RandomTreesAddUp) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(Settle(pool_, Spawn(pool_, Tree(policy(), seed, 7))).value(), PlainTree(seed, 7));
  }
}

CoTask<int> Give(int value) { co_return value; }

TEST_P(ForkPolicyTest, ARowOfManyForks) {
  const Future<std::int64_t> sum = Spawn(pool_, [how = policy()]() -> CoTask<std::int64_t> {
    std::vector<Future<int>> results(100'000);
    for (std::size_t i = 0; i < results.size(); ++i) {
      CoTask<int> child = Give(static_cast<int>(i));
      FORK(how, child, results[i]);
    }
    std::int64_t total = 0;
    for (Future<int>& result : results) {
      const absl::StatusOr<int>& value = co_await result;
      total += *value;
    }
    co_return total;
  });
  EXPECT_EQ(Settle(pool_, sum).value(), 100'000LL * 99'999 / 2);
}

CoTask<int> Nest(Policy policy, int depth) {
  if (depth == 0) co_return 0;
  CoTask<int> child = Nest(policy, depth - 1);
  Future<int> result;
  FORK(policy, child, result);
  const absl::StatusOr<int>& value = co_await result;
  co_return *value + 1;
}

TEST_P(ForkPolicyTest, AHundredThousandNestedForksNeedNoStack) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, Nest(policy(), 100'000))).value(), 100'000);
}

CoTask<std::unique_ptr<int>> Own(int value) {
  if (value < 0) throw std::runtime_error("negative");
  co_return std::make_unique<int>(value);
}

TEST_P(ForkPolicyTest, ErrorsAndMoveOnlyValuesComeThroughTheFuture) {
  const Future<int> result = Spawn(pool_, [how = policy()]() -> CoTask<int> {
    CoTask<std::unique_ptr<int>> bad = Own(-1);
    Future<std::unique_ptr<int>> failed;
    FORK(how, bad, failed);
    CoTask<std::unique_ptr<int>> good = Own(5);
    Future<std::unique_ptr<int>> owned;
    FORK(how, good, owned);
    const absl::StatusOr<std::unique_ptr<int>>& error = co_await failed;
    EXPECT_EQ(error.status(), absl::UnknownError("negative"));
    const absl::StatusOr<std::unique_ptr<int>> value = co_await std::move(owned);
    co_return **value;
  });
  EXPECT_EQ(Settle(pool_, result).value(), 5);
}

CoTask<int> After(Future<int> gate) {
  const absl::StatusOr<int>& value = co_await gate;
  co_return *value + 1;
}

// A child that waits lets the forking coroutine go on, and that opens the gate.
TEST_P(ForkPolicyTest, ASuspendedChildHoldsNobodyUp) {
  const Future<int> result = Spawn(pool_, [how = policy()]() -> CoTask<int> {
    const Promise<int> gate;
    CoTask<int> child = After(gate.future());
    Future<int> after;
    FORK(how, child, after);
    gate.Fulfil(1);
    const absl::StatusOr<int>& value = co_await after;
    co_return *value;
  });
  EXPECT_EQ(Settle(pool_, result).value(), 2);
}

TEST_P(ForkPolicyTest, EveryRunIsCountedOnce) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, Fib(policy(), 10))).value(), 55);
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  std::int64_t tasks = 0;
  std::int64_t by_origin = 0;
  for (const WorkerStats& stats : pool_.worker_stats()) {
    tasks += stats.tasks;
    by_origin += stats.from_own_deque + stats.from_steals + stats.from_injector +
                 stats.from_mailbox + stats.inline_runs;
  }
  EXPECT_EQ(tasks, by_origin);
  EXPECT_EQ(pool_.task_count(), 0);
}

struct Counted {
  explicit Counted(std::atomic<int>& a) : alive(&a) { ++*alive; }
  Counted(const Counted& other) : alive(other.alive) { ++*alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive; }
  std::atomic<int>* alive;
};

CoTask<int> Grow(Policy policy, Counted counted, int depth) {
  const Counted local = counted;
  if (depth == 0) co_return 1;
  CoTask<int> child = Grow(policy, local, depth - 1);
  Future<int> left;
  FORK(policy, child, left);
  CoTask<int> here = Grow(policy, local, depth - 1);
  const absl::StatusOr<int> right = co_await here;
  const absl::StatusOr<int>& value = co_await left;
  if (!value.ok()) co_return value.status();
  if (!right.ok()) co_return right.status();
  co_return *value + *right;
}

// D 46: a pool that is cancelled in the middle. Every frame dies, and the root resolves.
TEST_P(ForkPolicyTest, AShutdownInTheMiddleLeavesNothing) {
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> alive{0};
    Future<int> root;
    {
      WorkStealingPool pool({.name = "test", .workers = workers()});
      root = Spawn(pool, Grow(policy(), Counted(alive), 10));
      for (int i = 0; workers() == 0 && i < 50 * round; ++i) pool.RunOne();
      pool.ShutdownAndWait(round % 2 == 0 ? ShutdownMode::kCancel : ShutdownMode::kDrain);
    }
    const absl::StatusOr<int>& result = root.Wait();
    if (result.ok()) {
      EXPECT_EQ(*result, 1024);
    } else {
      EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
    }
    EXPECT_EQ(alive.load(), 0);
  }
}

// What each policy promises about the order, where nobody takes what is offered.
TEST(ForkOrderTest, TheChildRunsFirstOrLater) {
  for (const Policy policy : {Policy::kFirst, Policy::kLater}) {
    ManualRunner runner;
    std::vector<int> order;
    const Future<int> done = Spawn(runner, [&order, policy]() -> CoTask<int> {
      const auto note = [&order](int value) -> CoTask<int> {
        order.push_back(value);
        co_return value;
      };
      CoTask<int> child = note(1);
      Future<int> result;
      FORK(policy, child, result);
      order.push_back(2);
      const absl::StatusOr<int>& value = co_await result;
      co_return *value;
    });
    runner.RunAll();
    EXPECT_EQ(done.Wait().value(), 1);
    EXPECT_EQ(order,
              policy == Policy::kFirst ? (std::vector<int>{1, 2}) : (std::vector<int>{2, 1}));
  }
}

// The rest of the coroutine is what is stolen: the child, which began first, does not end
// before another worker has gone on with it.
TEST(ForkStealingTest, AnotherWorkerGoesOnWithTheRest) {
  WorkStealingPool pool({.name = "test", .workers = 2});
  absl::Notification went_on;
  const Future<int> result = Spawn(pool, [&]() -> CoTask<int> {
    const WorkerContext* forker = WorkerContext::Current();
    const WorkerContext* child_on = nullptr;
    const auto wait = [&]() -> CoTask<int> {
      child_on = WorkerContext::Current();
      went_on.WaitForNotification();
      co_return 1;
    };
    CoTask<int> child = wait();
    Future<int> joined;
    co_await ForkFirst(child, joined);
    EXPECT_NE(WorkerContext::Current(), forker);
    went_on.Notify();
    const absl::StatusOr<int>& value = co_await joined;
    EXPECT_EQ(child_on, forker);
    co_return *value;
  });
  EXPECT_EQ(result.Wait().value(), 1);
}

}  // namespace
}  // namespace jackdaw
