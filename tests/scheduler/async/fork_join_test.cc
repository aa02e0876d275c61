// Fork-join at 0, 1, 2 and 8 workers.

#include "scheduler/async/fork_join.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

// Work that nobody waits for.
template <typename F>
void Detach(WorkStealingPool& pool, F f) {
  const Future<void> unwatched = Spawn(pool, std::move(f));
}

using ForkJoinTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, ForkJoinTest, ::testing::Values(0, 1, 2, 8));

std::int64_t Fib(int n) {
  if (n < 2) return n;
  std::int64_t left = 0;
  std::int64_t right = 0;
  EXPECT_EQ(ForkJoin([&] { left = Fib(n - 1); }, [&] { right = Fib(n - 2); }), absl::OkStatus());
  return left + right;
}

// C 29: every worker waits for work that needs a worker.
TEST_P(ForkJoinTest, Fib) {
  std::int64_t result = 0;
  EXPECT_EQ(InvokeOn(pool_, [&] { result = Fib(20); }), absl::OkStatus());
  EXPECT_EQ(result, 6765);
}

TEST_P(ForkJoinTest, RunsOnPoolTasksToo) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, [] { return Fib(15); })).value(), 610);
}

TEST_P(ForkJoinTest, InvokeRunsAllOfThem) {
  std::array<std::atomic<int>, 5> ran{};
  EXPECT_EQ(InvokeOn(
                pool_, [&] { ++ran[0]; }, [&] { ++ran[1]; }, [&] { ++ran[2]; }, [&] { ++ran[3]; },
                [&] { ++ran[4]; }),
            absl::OkStatus());
  for (const std::atomic<int>& count : ran) EXPECT_EQ(count.load(), 1);
}

TEST_P(ForkJoinTest, AForkGivesItsValue) {
  const Future<int> result = Spawn(pool_, [] {
    auto left = Fork([] { return 1; });
    auto owned = Fork([] { return std::make_unique<int>(2); });
    auto failed = Fork([]() -> absl::StatusOr<int> { return absl::NotFoundError("x"); });
    EXPECT_EQ(failed.Join().status(), absl::NotFoundError("x"));
    const int second = **owned.Join();
    return *left.Join() + second;
  });
  EXPECT_EQ(Settle(pool_, result).value(), 3);
}

TEST_P(ForkJoinTest, ForksJoinInAnyOrder) {
  const Future<int> result = Spawn(pool_, [] {
    auto a = Fork([] { return 1; });
    auto b = Fork([] { return 2; });
    auto c = Fork([] { return 3; });
    const int first = *a.Join();
    const int third = *c.Join();
    return first + third + *b.Join();
  });
  EXPECT_EQ(Settle(pool_, result).value(), 6);
}

// D 38, D 42: the half that threw left the other running on a frame that was gone.
TEST_P(ForkJoinTest, BothHalvesEndWhicheverThrows) {
  const auto boom = [] { throw std::runtime_error("boom"); };
  const auto slow = [](std::vector<int>& data) {
    for (int round = 0; round < 200; ++round) {
      for (int& value : data) ++value;
    }
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<int> data(100, 0);
    EXPECT_EQ(InvokeOn(
                  pool_, [&] { slow(data); }, boom),
              absl::UnknownError("boom"));
    EXPECT_EQ(data[99], 200);
    EXPECT_EQ(InvokeOn(pool_, boom, [&] { slow(data); }), absl::UnknownError("boom"));
    EXPECT_EQ(data[99], 400);
    EXPECT_EQ(InvokeOn(pool_, boom, [] { return absl::NotFoundError("second"); }),
              absl::UnknownError("boom"));
  }
}

TEST_P(ForkJoinTest, AnExceptionBetweenForkAndJoinStillJoins) {
  std::atomic<int> ran{0};
  const Future<void> result = Spawn(pool_, [&] {
    const auto fork = Fork([&] { ++ran; });
    throw std::runtime_error("between");
  });
  EXPECT_EQ(Settle(pool_, result), absl::UnknownError("between"));
  EXPECT_EQ(ran.load(), 1);
}

TEST_P(ForkJoinTest, AForkUnderOtherWorkIsTakenBack) {
  std::atomic<int> others{0};
  const Future<int> result = Spawn(pool_, [&] {
    auto fork = Fork([] { return 1; });
    for (int i = 0; i < 1000; ++i) Detach(pool_, [&others] { ++others; });
    return *fork.Join();
  });
  EXPECT_EQ(Settle(pool_, result).value(), 1);
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  if (GetParam() == 0) pool_.RunUntilIdle();
  EXPECT_EQ(others.load(), 1000);
}

// C 32, oneTBB#942: the waiter picked up other work first, and with it its four seconds.
TEST(ForkJoinIsolationTest, JoiningRunsNoOtherWork) {
  WorkStealingPool pool({.name = "test", .workers = 1});
  int others_before_join = -1;
  int others = 0;
  const Future<void> result = Spawn(pool, [&] {
    for (int i = 0; i < 10; ++i) Detach(pool, [&others] { ++others; });
    auto fork = Fork([] {});
    for (int i = 0; i < 10; ++i) Detach(pool, [&others] { ++others; });
    EXPECT_EQ(fork.Join(), absl::OkStatus());
    others_before_join = others;
  });
  EXPECT_EQ(result.Wait(), absl::OkStatus());
  EXPECT_EQ(others_before_join, 0);
}

// The joiner's fork was taken, and its taker makes unrelated work: the joiner's thread runs
// none of it before it has joined.
TEST(ForkJoinIsolationTest, WaitingForATakerRunsNoOtherWork) {
  WorkStealingPool pool({.name = "test", .workers = 2});
  absl::Notification taken;
  std::atomic<bool> joined{false};
  std::atomic<int> ran_inside{0};
  std::atomic<int> ran{0};
  const Future<void> result = Spawn(pool, [&] {
    const WorkerContext* joiner = WorkerContext::Current();
    auto fork = Fork([&, joiner] {
      taken.Notify();
      for (int i = 0; i < 1000; ++i) {
        Detach(pool, [&, joiner] {
          ++ran;
          if (WorkerContext::Current() == joiner && !joined) ++ran_inside;
        });
      }
    });
    taken.WaitForNotification();
    const absl::Status status = fork.Join();
    joined = true;
    return status;
  });
  EXPECT_EQ(result.Wait(), absl::OkStatus());
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 1000);
  EXPECT_EQ(ran_inside.load(), 0);
}

// C 30, rayon#854: unrelated jobs nested on the waiting stack. Here the stack of a join holds
// only its own subtree; the test counts how deep the bodies nest.
struct Nesting {
  std::atomic<int> deepest{0};
  std::atomic<std::int64_t> leaves{0};
};
thread_local int nested_bodies = 0;

void Tree(Nesting& nesting, int levels, std::uint64_t seed) {
  const int depth = ++nested_bodies;
  int deepest = nesting.deepest.load();
  while (depth > deepest && !nesting.deepest.compare_exchange_weak(deepest, depth)) {
  }
  if (levels == 0) {
    ++nesting.leaves;
  } else {
    Random random(seed);
    const std::uint64_t left = random.Next();
    const std::uint64_t right = random.Next();
    volatile std::uint64_t work = random.Below(200);
    while (work > 0) work = work - 1;
    EXPECT_EQ(ForkJoin([&, left] { Tree(nesting, levels - 1, left); },
                       [&, right] { Tree(nesting, levels - 1, right); }),
              absl::OkStatus());
  }
  --nested_bodies;
}

TEST_P(ForkJoinTest, NestedJoinsStayShallow) {
  constexpr int kLevels = 14;
  Nesting nesting;
  EXPECT_EQ(InvokeOn(pool_, [&] { Tree(nesting, kLevels, 1); }), absl::OkStatus());
  EXPECT_EQ(nesting.leaves.load(), 1 << kLevels);
  // Helping runs forks of a subtree that lies below the waiting body: levels only go down.
  // The slack is for the exception that invariant (3) allows.
  EXPECT_LE(nesting.deepest.load(), kLevels + 1 + kLevels);
}

// More forks than a deque is meant to hold: the rest run at once.
TEST_P(ForkJoinTest, AnEndlessRowOfForksIsBounded) {
  std::atomic<int> ran{0};
  const Future<void> result = Spawn(pool_, [&] {
    std::vector<std::unique_ptr<Forked<std::function<void()>>>> forks;
    for (int i = 0; i < 2 * kMaxForksPerThread; ++i) {
      forks.push_back(std::make_unique<Forked<std::function<void()>>>([&ran] { ++ran; }));
    }
    while (!forks.empty()) forks.pop_back();
  });
  EXPECT_EQ(Settle(pool_, result), absl::OkStatus());
  EXPECT_EQ(ran.load(), 2 * kMaxForksPerThread);
}

TEST_P(ForkJoinTest, EveryForkIsCountedOnceByThePool) {
  EXPECT_EQ(InvokeOn(pool_, [] { Fib(12); }), absl::OkStatus());
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
  // fib(12) forks 232 times. Without workers nothing is forked; with them, one task asks.
  if (GetParam() > 0) {
    EXPECT_EQ(tasks, 232 + 1);
  }
}

TEST(ForkTest, OffAPoolRunsAtOnce) {
  int order = 0;
  auto fork = Fork([&order] { return ++order; });
  EXPECT_EQ(order, 1);
  EXPECT_EQ(*fork.Join(), 1);
  EXPECT_EQ(Fib(10), 55);
}

TEST(ForkTest, OnAPoolThatIsGoneIsRefused) {
  WorkStealingPool pool({.name = "test", .workers = 1});
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_TRUE(absl::IsUnavailable(InvokeOn(pool, [] { ADD_FAILURE(); })));
}

}  // namespace
}  // namespace jackdaw
