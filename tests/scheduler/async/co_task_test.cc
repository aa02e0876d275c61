// Coroutines at 0, 1, 2 and 8 workers, and on a runner that is not a pool.

#include "scheduler/async/co_task.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/future_combine.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using CoTaskTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, CoTaskTest, ::testing::Values(0, 1, 2, 8));

CoTask<int> Give(int value) { co_return value; }

CoTask<int> FailWith(absl::Status status) { co_return status; }

CoTask<void> Throw(const char* what) {
  throw std::runtime_error(what);
  co_return;
}

CoTask<int> Sum(Future<int> a, Future<int> b) {
  const absl::StatusOr<int>& first = co_await a;
  if (!first.ok()) co_return first.status();
  const absl::StatusOr<int>& second = co_await b;
  if (!second.ok()) co_return second.status();
  co_return *first + *second;
}

CoTask<std::int64_t> Fib(Runner& runner, int n) {
  if (n < 2) co_return n;
  CoTask<std::int64_t> left_task = Fib(runner, n - 1);
  Future<std::int64_t> left = Spawn(runner, std::move(left_task));
  CoTask<std::int64_t> right = Fib(runner, n - 2);
  const absl::StatusOr<std::int64_t> b = co_await right;
  const absl::StatusOr<std::int64_t>& a = co_await left;
  co_return *a + *b;
}

TEST_P(CoTaskTest, GivesItsResult) { EXPECT_EQ(Settle(pool_, Spawn(pool_, Give(4))).value(), 4); }

TEST_P(CoTaskTest, AwaitsAChildAsACall) {
  const auto outer = [](int value) -> CoTask<std::string> {
    CoTask<int> child = Give(value);
    const absl::StatusOr<int> result = co_await child;
    co_return std::to_string(*result + 1);
  };
  EXPECT_EQ(Settle(pool_, Spawn(pool_, outer(41))).value(), "42");
}

TEST_P(CoTaskTest, ResumesWhenTheFutureIsFulfilledElsewhere) {
  const Promise<int> a;
  const Promise<int> b;
  const Future<int> sum = Spawn(pool_, Sum(a.future(), b.future()));
  b.Fulfil(2);
  a.Fulfil(1);
  EXPECT_EQ(Settle(pool_, sum).value(), 3);
}

// C 29: waiting inside a task must not need a second worker.
TEST_P(CoTaskTest, FibBySpawnAndAwait) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, Fib(pool_, 16))).value(), 987);
}

TEST_P(CoTaskTest, TenThousandWaitForOnePromise) {
  const Promise<int> gate;
  std::vector<Future<int>> sums;
  for (int i = 0; i < 10'000; ++i) {
    sums.push_back(Spawn(pool_, Sum(gate.future(), Future<int>::Ready(i))));
  }
  if (GetParam() == 0) pool_.RunUntilIdle();
  gate.Fulfil(1);
  const Future<std::vector<int>> gathered = WhenAll(sums);
  const absl::StatusOr<std::vector<int>>& all = Settle(pool_, gathered);
  ASSERT_TRUE(all.ok());
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ((*all)[static_cast<std::size_t>(i)], i + 1);
}

TEST_P(CoTaskTest, YieldLetsOthersGoFirst) {
  bool other_ran = false;
  const Future<int> yields = Spawn(pool_, [&]() -> CoTask<int> {
    const Future<void> other = Spawn(pool_, [&] { other_ran = true; });
    int turns = 0;
    while (!other.is_ready()) {
      co_await Yield();
      ++turns;
    }
    co_return turns;
  });
  EXPECT_GE(Settle(pool_, yields).value(), 0);
  EXPECT_TRUE(other_ran);
}

TEST_P(CoTaskTest, ErrorsAndExceptionsComeOutAsStatus) {
  EXPECT_EQ(Settle(pool_, Spawn(pool_, FailWith(absl::NotFoundError("x")))).status(),
            absl::NotFoundError("x"));
  EXPECT_EQ(Settle(pool_, Spawn(pool_, Throw("thrown"))), absl::UnknownError("thrown"));
  const auto outer = []() -> CoTask<absl::Status> {
    CoTask<void> child = Throw("inner");
    const absl::Status status = co_await child;
    co_return status;
  };
  EXPECT_EQ(Settle(pool_, Spawn(pool_, outer())), absl::UnknownError("inner"));
  EXPECT_EQ(
      Settle(pool_, Spawn(pool_, []() -> int { throw std::runtime_error("plain"); })).status(),
      absl::UnknownError("plain"));
  EXPECT_EQ(Settle(pool_, Spawn(pool_, []() -> CoTask<int> { throw std::runtime_error("maker"); }))
                .status(),
            absl::UnknownError("maker"));
}

TEST_P(CoTaskTest, CarriesMoveOnlyValues) {
  Promise<std::unique_ptr<int>> promise;
  const auto body = [](Future<std::unique_ptr<int>> future) -> CoTask<std::unique_ptr<int>> {
    absl::StatusOr<std::unique_ptr<int>> value = co_await std::move(future);
    ++**value;
    co_return *std::move(value);
  };
  const Future<std::unique_ptr<int>> result = Spawn(pool_, body(promise.future()));
  promise.Fulfil(std::make_unique<int>(1));
  EXPECT_EQ(**Settle(pool_, result), 2);
}

// F 67: the coroutine of a lambda used the captures of a closure that was gone.
TEST_P(CoTaskTest, ASpawnedLambdaOutlivesItsCoroutine) {
  const Promise<int> gate;
  Future<std::string> result;
  {
    const std::string captured(100, 'x');
    result = Spawn(pool_, [captured, future = gate.future()]() -> CoTask<std::string> {
      (void)co_await future;
      co_return captured;
    });
  }
  gate.Fulfil(1);
  EXPECT_EQ(Settle(pool_, result).value(), std::string(100, 'x'));
}

// F 63: what the work owned stayed alive after its future resolved.
TEST_P(CoTaskTest, WhatTheWorkOwnedIsGoneWhenTheFutureResolves) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  const auto body = [](std::shared_ptr<int> owned) -> CoTask<int> { co_return *owned; };
  bool expired = false;
  const Promise<void> start;
  const Future<void> seen =
      Spawn(pool_, [body, kept = std::move(kept), start = start.future()]() -> CoTask<int> {
        (void)co_await start;
        CoTask<int> child = body(kept);
        const absl::StatusOr<int> value = co_await child;
        co_return *value;
      }).Map([&](int) { expired = watch.expired(); });
  start.Fulfil();
  EXPECT_EQ(Settle(pool_, seen), absl::OkStatus());
  EXPECT_TRUE(expired);
}

TEST(CoTaskOnARunnerTest, IsLazy) {
  ManualRunner runner;
  bool began = false;
  const auto body = [&]() -> CoTask<int> {
    began = true;
    co_return 1;
  };
  { const CoTask<int> never_awaited = body(); }
  EXPECT_FALSE(began);
  const Future<int> future = Spawn(runner, body());
  EXPECT_FALSE(began);
  runner.RunAll();
  EXPECT_EQ(future.Wait().value(), 1);
}

TEST(CoTaskOnARunnerTest, NeverResumesInsideTheCompleter) {
  ManualRunner runner;
  const Promise<int> a;
  const Future<int> sum = Spawn(runner, Sum(a.future(), Future<int>::Ready(1)));
  EXPECT_EQ(runner.RunAll(), 1);
  a.Fulfil(1);
  EXPECT_FALSE(sum.is_ready());
  EXPECT_EQ(runner.RunAll(), 1);
  EXPECT_EQ(sum.Wait().value(), 2);
}

TEST(CoTaskOnARunnerTest, GoesOnAtOnceWithAReadyFuture) {
  ManualRunner runner;
  const Future<int> ready = Future<int>::Ready(1);
  const Future<int> sum = Spawn(runner, Sum(ready, ready));
  EXPECT_TRUE(runner.RunOne());
  EXPECT_EQ(sum.Wait().value(), 2);
}

TEST(CoTaskOnARunnerTest, SeesARequestToCancel) {
  ManualRunner runner;
  const Future<void> future = Spawn(runner, []() -> CoTask<absl::Status> {
    for (;;) {
      const bool stop = co_await CancelRequested();
      if (stop) co_return absl::CancelledError("as asked");
      co_await Yield();
    }
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(runner.RunOne());
  future.RequestCancel();
  EXPECT_TRUE(runner.RunOne());
  EXPECT_EQ(future.Wait(), absl::CancelledError("as asked"));
}

TEST(CoTaskOnARunnerTest, CancelledBeforeItBeginsNeverBegins) {
  ManualRunner runner;
  const Future<int> coroutine = Spawn(runner, Give(1));
  const Future<int> function = Spawn(runner, [] {
    ADD_FAILURE();
    return 1;
  });
  coroutine.RequestCancel();
  function.RequestCancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(coroutine.Wait().status()));
  EXPECT_TRUE(absl::IsCancelled(function.Wait().status()));
}

TEST(CoTaskOnARunnerTest, DelayIsNotAThread) {
  FakeClock clock;
  TimerQueue timers(&clock, TimerQueue::Drive::kManual);
  ManualRunner runner;
  const Future<void> done = Spawn(runner, [&]() -> CoTask<absl::Status> {
    const Future<void> pause = Delay(timers, absl::Seconds(1));
    const absl::Status status = co_await pause;
    co_return status;
  });
  runner.RunAll();
  clock.Advance(absl::Seconds(1));
  timers.RunDue();
  runner.RunAll();
  EXPECT_EQ(done.Wait(), absl::OkStatus());
}

// D 44: futures of work that was given up stayed empty.
TEST(CoTaskShutdownTest, WorkSubmittedAfterwardsIsRefused) {
  ManualRunner runner;
  runner.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_TRUE(absl::IsUnavailable(Spawn(runner, Give(1)).Wait().status()));
  EXPECT_TRUE(absl::IsUnavailable(Spawn(runner, [] { return 1; }).Wait().status()));
}

TEST(CoTaskShutdownTest, QueuedWorkIsDropped) {
  ManualRunner runner;
  const Future<int> coroutine = Spawn(runner, Give(1));
  const Future<int> function = Spawn(runner, [] { return 1; });
  runner.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_TRUE(absl::IsCancelled(coroutine.Wait().status()));
  EXPECT_TRUE(absl::IsCancelled(function.Wait().status()));
}

CoTask<int> Nest(int depth, Future<int> innermost, std::shared_ptr<int> owned) {
  if (depth == 0) {
    const absl::StatusOr<int>& value = co_await innermost;
    co_return *value;
  }
  CoTask<int> child = Nest(depth - 1, innermost, owned);
  const absl::StatusOr<int> value = co_await child;
  co_return *value + 1;
}

TEST(CoTaskShutdownTest, ARefusedCoroutineIsDestroyedHoweverDeepItIs) {
  constexpr int kDepth = 100'000;
  ManualRunner runner;
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  const Promise<int> gate;
  const Future<int> result = Spawn(runner, Nest(kDepth, gate.future(), std::move(kept)));
  runner.RunAll();
  runner.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_FALSE(watch.expired());
  gate.Fulfil(1);
  EXPECT_TRUE(absl::IsUnavailable(result.Wait().status()));
  EXPECT_TRUE(watch.expired());
}

TEST(CoTaskShutdownTest, AChainOfRefusedCoroutinesNeedsNoStack) {
  ManualRunner runner;
  const Promise<int> gate;
  Future<int> last = gate.future();
  for (int i = 0; i < 100'000; ++i) last = Spawn(runner, Sum(last, Future<int>::Ready(1)));
  runner.RunAll();
  runner.ShutdownAndWait(ShutdownMode::kDrain);
  gate.Fulfil(1);
  EXPECT_TRUE(absl::IsUnavailable(last.Wait().status()));
}

}  // namespace
}  // namespace jackdaw
