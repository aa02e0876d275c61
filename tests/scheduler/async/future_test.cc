// Future and Promise, method by method, on one thread where that shows it and on two where
// the threads are the point.

#include "scheduler/async/future.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/async/spawn.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

TEST(FutureTest, IsReadyOnceFulfilledAndNotBefore) {
  const Promise<int> promise;
  const Future<int> future = promise.future();
  EXPECT_TRUE(future.valid());
  EXPECT_FALSE(Future<int>().valid());
  EXPECT_FALSE(future.is_ready());
  EXPECT_EQ(future.Peek(), nullptr);
  EXPECT_FALSE(promise.is_fulfilled());
  promise.Fulfil(42);
  EXPECT_TRUE(promise.is_fulfilled());
  EXPECT_TRUE(future.is_ready());
  ASSERT_NE(future.Peek(), nullptr);
  EXPECT_EQ(future.Peek()->value(), 42);
}

TEST(FutureTest, HoldsAnErrorAsData) {
  const Promise<std::string> promise;
  promise.Fulfil(absl::NotFoundError("no such thing"));
  EXPECT_EQ(promise.future().Wait().status(), absl::NotFoundError("no such thing"));
}

TEST(FutureTest, OfVoidHoldsAStatus) {
  const Promise<void> good;
  good.Fulfil();
  EXPECT_EQ(good.future().Wait(), absl::OkStatus());
  const Promise<void> bad;
  bad.Fulfil(absl::DataLossError("lost"));
  EXPECT_EQ(bad.future().Wait(), absl::DataLossError("lost"));
}

TEST(FutureTest, OfAMoveOnlyTypeIsTaken) {
  Future<std::unique_ptr<int>> future =
      Future<std::unique_ptr<int>>::Ready(std::make_unique<int>(7));
  const absl::StatusOr<std::unique_ptr<int>> taken = std::move(future).Take();
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(**taken, 7);
}

TEST(FutureTest, TakeMovesForTheLastHandleAndCopiesForOthers) {
  Future<std::vector<int>> first = Future<std::vector<int>>::Ready(std::vector<int>{1, 2, 3});
  const int* data = first.Peek()->value().data();
  Future<std::vector<int>> second = first;
  const absl::StatusOr<std::vector<int>> copied = std::move(second).Take();
  EXPECT_NE(copied->data(), data);
  EXPECT_EQ(first.Peek()->value().size(), 3u);
  const absl::StatusOr<std::vector<int>> moved = std::move(first).Take();
  EXPECT_EQ(moved->data(), data);
}

TEST(PromiseTest, ThatDiesWithoutAResultBreaks) {
  Future<int> future;
  {
    const Promise<int> promise;
    future = promise.future();
  }
  EXPECT_EQ(future.Wait().status().code(), absl::StatusCode::kAborted);
}

TEST(PromiseTest, ThatIsAssignedOverBreaks) {
  Promise<int> promise;
  const Future<int> future = promise.future();
  promise = Promise<int>();
  EXPECT_EQ(future.Wait().status().code(), absl::StatusCode::kAborted);
}

TEST(PromiseTest, TheFirstResultCounts) {
  const Promise<int> promise;
  EXPECT_TRUE(promise.TryFulfil(1));
  EXPECT_FALSE(promise.TryFulfil(2));
  EXPECT_EQ(promise.future().Wait().value(), 1);
}

TEST(PromiseDeathTest, FulfillingTwiceIsABug) {
  const Promise<int> promise;
  promise.Fulfil(1);
  EXPECT_DEATH(promise.Fulfil(2), "");
}

TEST(FutureTest, WaitBlocksUntilAnotherThreadFulfils) {
  for (int round = 0; round < 200; ++round) {
    const Promise<int> promise;
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i) {
      waiters.emplace_back([future = promise.future()] { EXPECT_EQ(future.Wait().value(), 5); });
    }
    promise.Fulfil(5);
    for (std::thread& waiter : waiters) waiter.join();
  }
}

TEST(FutureTest, CallbacksRunOnceInTheOrderInWhichTheyCame) {
  const Promise<int> promise;
  std::vector<int> called;
  for (int i = 0; i < 5; ++i) {
    promise.future().OnReady(
        [&called, i](const absl::StatusOr<int>& result) { called.push_back(i + *result); });
  }
  EXPECT_TRUE(called.empty());
  promise.Fulfil(10);
  EXPECT_EQ(called, std::vector<int>({10, 11, 12, 13, 14}));
}

TEST(FutureTest, ACallbackOnAReadyFutureRunsAtOnce) {
  int seen = 0;
  Future<int>::Ready(3).OnReady([&](const absl::StatusOr<int>& result) { seen = *result; });
  EXPECT_EQ(seen, 3);
}

TEST(FutureTest, ACallbackForARunnerRunsThere) {
  ManualRunner runner;
  const Runner* ran_on = nullptr;
  const Promise<int> promise;
  promise.future().OnReady(runner, [&](const absl::StatusOr<int>&) { ran_on = Runner::Current(); });
  promise.Fulfil(1);
  EXPECT_EQ(ran_on, nullptr);
  EXPECT_EQ(runner.RunAll(), 1);
  EXPECT_EQ(ran_on, &runner);
}

TEST(FutureTest, ACallbackForARunnerThatIsGoneIsDestroyed) {
  ManualRunner runner;
  runner.ShutdownAndWait(ShutdownMode::kDrain);
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  Future<int>::Ready(1).OnReady(
      runner, [kept = std::move(kept)](const absl::StatusOr<int>&) { ADD_FAILURE(); });
  EXPECT_TRUE(watch.expired());
}

TEST(FutureTest, CompletionInsideACallbackWaitsForItsTurn) {
  const Promise<int> outer;
  const Promise<int> inner;
  std::vector<std::string> order;
  inner.future().OnReady([&](const absl::StatusOr<int>&) { order.push_back("inner"); });
  outer.future().OnReady([&](const absl::StatusOr<int>&) {
    inner.Fulfil(1);
    EXPECT_TRUE(inner.future().is_ready());
    order.push_back("outer");
  });
  outer.Fulfil(1);
  EXPECT_EQ(order, std::vector<std::string>({"outer", "inner"}));
}

// cppcoro#129: each completion completed the next one inside itself.
TEST(FutureTest, AChainOfAMillionCallbacksNeedsNoStack) {
  constexpr int kLinks = 1'000'000;
  std::vector<Promise<int>> promises(kLinks);
  for (int i = 0; i + 1 < kLinks; ++i) {
    promises[i].future().OnReady([next = &promises[i + 1]](const absl::StatusOr<int>& result) {
      next->Fulfil(*result + 1);
    });
  }
  promises.front().Fulfil(0);
  ASSERT_TRUE(promises.back().future().is_ready());
  EXPECT_EQ(promises.back().future().Wait().value(), kLinks - 1);
}

TEST(FutureTest, CallbacksThatAddCallbacksToReadyFuturesNeedNoStack) {
  int left = 1'000'000;
  const Future<int> ready = Future<int>::Ready(1);
  std::function<void(const absl::StatusOr<int>&)> again = [&](const absl::StatusOr<int>&) {
    if (--left > 0) ready.OnReady(again);
  };
  ready.OnReady(again);
  EXPECT_EQ(left, 0);
}

// domainslib#29: what a callback owned stayed alive after it had run.
TEST(FutureTest, ACallbackIsDestroyedOnceItHasRun) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  const Promise<int> promise;
  promise.future().OnReady([kept = std::move(kept)](const absl::StatusOr<int>&) {});
  EXPECT_FALSE(watch.expired());
  promise.Fulfil(1);
  EXPECT_TRUE(watch.expired());
}

TEST(FutureTest, CancelIsAHintToTheProducer) {
  const Promise<int> promise;
  int called = 0;
  promise.OnCancel([&] { ++called; });
  EXPECT_FALSE(promise.cancel_requested());
  promise.future().RequestCancel();
  promise.future().RequestCancel();
  EXPECT_TRUE(promise.cancel_requested());
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(promise.future().is_ready());
  promise.OnCancel([&] { ++called; });
  EXPECT_EQ(called, 2);
  promise.Fulfil(9);
  EXPECT_EQ(promise.future().Wait().value(), 9);
}

TEST(FutureTest, CancelAfterTheResultDoesNothing) {
  const Promise<int> promise;
  promise.Fulfil(1);
  promise.OnCancel([] { ADD_FAILURE(); });
  promise.future().RequestCancel();
  EXPECT_EQ(promise.future().Wait().value(), 1);
}

TEST(FutureTest, ACancelCallbackMayOwnTheFutureItself) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  {
    const Promise<int> promise;
    promise.OnCancel([future = promise.future(), kept = std::move(kept)] { ADD_FAILURE(); });
    promise.Fulfil(1);
    EXPECT_TRUE(watch.expired());
  }
}

// Under AddressSanitizer this shows that every cell and every callback is freed.
TEST(FutureTest, FulfilAndCancelAndWaitMeetInAnyOrder) {
  for (int round = 0; round < 500; ++round) {
    auto promise = std::make_shared<Promise<int>>();
    const Future<int> future = promise->future();
    std::thread fulfiller([promise] { promise->TryFulfil(1); });
    std::thread canceller([future] { future.RequestCancel(); });
    promise->OnCancel([promise] { promise->TryFulfil(absl::CancelledError("on request")); });
    future.OnReady([](const absl::StatusOr<int>& result) {
      EXPECT_TRUE(result.ok() || absl::IsCancelled(result.status()));
    });
    promise.reset();
    (void)future.Wait();
    fulfiller.join();
    canceller.join();
  }
}

TEST(FutureTest, WaitOnAWorkerOfItsOwnRunnerIsRefused) {
  WorkStealingPool pool({.name = "compute", .workers = 1});
  const Future<int> outer = Spawn(pool, [&pool] {
    const Future<int> inner = Spawn(pool, [] { return 1; });
    const Future<int> derived = inner.Map([](int value) { return value; });
    EXPECT_EQ(inner.Wait().status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(derived.Wait().status().code(), absl::StatusCode::kFailedPrecondition);
    return 2;
  });
  EXPECT_EQ(outer.Wait().value(), 2);
}

TEST(FutureTest, WaitOnAWorkerOfAnotherRunnerBlocks) {
  WorkStealingPool compute({.name = "compute", .workers = 1});
  WorkStealingPool blocking({.name = "blocking", .workers = 1});
  const Future<int> outer = Spawn(blocking, [&compute] {
    const Future<int> inner = Spawn(compute, [] { return 20; });
    return inner.Wait().value() + 1;
  });
  EXPECT_EQ(outer.Wait().value(), 21);
}

}  // namespace
}  // namespace jackdaw
