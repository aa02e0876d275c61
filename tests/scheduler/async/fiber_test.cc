// Fibers, rule by rule, at 0, 1, 2 and 8 workers; on a runner driven by hand where the order of
// events is the point. Random trees are in fiber_tree_test.cc, fairness in fiber_turns_test.cc,
// hooks and debugging in fiber_hook_test.cc.

#include "scheduler/async/fiber.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/async/local_key.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

CoTask<int> Give(int value) { co_return value; }

CoTask<void> FailWith(absl::Status status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
  co_return;
}

CoTask<absl::Status> Return(absl::Status status) { co_return status; }

// Waits for `gate` and gives what the await gave.
CoTask<absl::Status> WaitFor(Future<void> gate) {
  const absl::Status status = co_await gate;
  co_return status;
}

class FiberTest : public AtWorkerCounts {
 protected:
  template <typename T>
  const FutureResult<T>& Settled(const Fiber<T>& fiber) {
    return Settle(pool_, fiber.future());
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, FiberTest, ::testing::Values(0, 1, 2, 8));

TEST_P(FiberTest, GivesItsResult) {
  EXPECT_EQ(Settled(SpawnFiber(pool_, Give(4))).value(), 4);
  EXPECT_EQ(Settled(SpawnFiber(pool_, [] { return Give(5); })).value(), 5);
  EXPECT_EQ(Settled(SpawnFiber(pool_, [] { return 6; })).value(), 6);
  EXPECT_EQ(Settled(SpawnFiber(pool_, [] {})), absl::OkStatus());
  EXPECT_EQ(Settled(SpawnFiber(pool_, FailWith(absl::UnknownError("x")))), absl::UnknownError("x"));
  EXPECT_EQ(Settled(SpawnFiber(pool_, []() -> int { throw std::runtime_error("y"); })).status(),
            absl::UnknownError("y"));
}

TEST_P(FiberTest, AwaitsItsChildren) {
  const Fiber<int> sum = SpawnFiber(pool_, []() -> CoTask<int> {
    const Fiber<int> left = SpawnChild(Give(1));
    Fiber<std::unique_ptr<int>> right = SpawnChild([] { return std::make_unique<int>(2); });
    const absl::StatusOr<int>& a = co_await left;
    const absl::StatusOr<std::unique_ptr<int>> b = co_await std::move(right);
    co_return *a + **b;
  });
  EXPECT_EQ(Settled(sum).value(), 3);
  EXPECT_TRUE(sum.is_done());
  EXPECT_TRUE(sum.is_success());
  EXPECT_FALSE(sum.is_failed());
  EXPECT_FALSE(sum.is_cancelled());
}

TEST_P(FiberTest, EndsAfterChildrenThatItDoesNotAwait) {
  const Promise<void> gate;
  std::vector<Fiber<void>> children;
  const Fiber<int> parent = SpawnFiber(pool_, [&] {
    children.push_back(SpawnChild(WaitFor(gate.future())));
    return 1;
  });
  if (GetParam() == 0) pool_.RunUntilIdle();
  EXPECT_FALSE(parent.is_done());
  gate.Fulfil();
  EXPECT_EQ(Settled(parent).value(), 1);
  EXPECT_TRUE(children[0].is_success());
}

TEST_P(FiberTest, AFailingChildFailsItsParentAndCancelsItsSiblings) {
  const Promise<void> never;
  Fiber<void> sibling;
  const Fiber<int> parent = SpawnFiber(pool_, [&]() -> CoTask<int> {
    sibling = SpawnChild(WaitFor(never.future()));
    const Fiber<void> failing = SpawnChild(Return(absl::NotFoundError("no page")));
    const Future<void> pending = never.future();
    co_await pending;
    co_return 1;
  });
  EXPECT_EQ(Settled(parent).status(), absl::NotFoundError("no page"));
  EXPECT_TRUE(absl::IsCancelled(*sibling.Peek()));
  EXPECT_TRUE(parent.is_cancelled());
}

TEST_P(FiberTest, AProtectedChildFailsAlone) {
  const Fiber<int> parent = SpawnFiber(pool_, []() -> CoTask<int> {
    const Fiber<void> failing =
        SpawnChild(Return(absl::NotFoundError("no page")), {.protect = true});
    const absl::Status status = co_await failing;
    co_return absl::IsNotFound(status) && CheckCancelled().ok() ? 1 : 0;
  });
  EXPECT_EQ(Settled(parent).value(), 1);
}

TEST_P(FiberTest, CancelGoesDownAndWakesWhoWaits) {
  const Promise<void> never;
  const Promise<void> began;
  Fiber<void> child;
  Fiber<void> grandchild;
  const Fiber<void> root = SpawnFiber(pool_, [&]() -> CoTask<absl::Status> {
    child = SpawnChild([&]() -> CoTask<absl::Status> {
      grandchild = SpawnChild(WaitFor(never.future()));
      began.Fulfil();
      const Future<void> pending = never.future();
      const absl::Status status = co_await pending;
      co_return status;
    });
    const absl::Status status = co_await child;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, began.future()), absl::OkStatus());
  root.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Settled(root)));
  for (const Fiber<void>& fiber : {child, grandchild}) {
    EXPECT_TRUE(fiber.is_done());
    EXPECT_TRUE(fiber.is_cancelled());
  }
}

TEST_P(FiberTest, OneThatHasNotBegunNeverDoes) {
  ManualRunner runner;
  bool ran = false;
  const Fiber<void> fiber = SpawnFiber(runner, [&] { ran = true; });
  fiber.Cancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(fiber.Wait()));
  EXPECT_FALSE(ran);
}

// Cancelling is sticky: who is spawned later is cancelled from the start (moonpool#34).
TEST_P(FiberTest, AChildSpawnedByACancelledFiberNeverRuns) {
  bool ran = false;
  Fiber<void> child;
  const Fiber<int> parent = SpawnFiber(pool_, [&]() -> CoTask<int> {
    ThisFiber::Node().Cancel(CancelRequestedError());
    child = SpawnChild([&] { ran = true; });
    co_return child.is_done() && child.is_cancelled() ? 1 : 0;
  });
  EXPECT_EQ(Settled(parent).value(), 1);
  EXPECT_TRUE(absl::IsCancelled(child.Wait()));
  EXPECT_FALSE(ran);
}

TEST_P(FiberTest, ACancelledFiberNeverSuspendsAgainButSeesWhatIsReady) {
  const Promise<int> never;
  const Fiber<int> fiber = SpawnFiber(pool_, [&]() -> CoTask<int> {
    ThisFiber::Node().Cancel(CancelRequestedError());
    const Future<int> pending = never.future();
    const absl::StatusOr<int>& interrupted = co_await pending;
    const Future<int> ready = Future<int>::Ready(7);
    const absl::StatusOr<int>& value = co_await ready;
    const absl::Status yielded = co_await Checkpoint();
    const bool requested = co_await CancelRequested();
    const bool seen = absl::IsCancelled(interrupted.status()) && absl::IsCancelled(yielded) &&
                      absl::IsCancelled(CheckCancelled()) && requested;
    co_return seen ? *value : 0;
  });
  EXPECT_EQ(Settled(fiber).value(), 7);
}

TEST_P(FiberTest, AnInterruptedAwaitOfAnRvalueAsksItToCancel) {
  const Promise<int> mine;
  const Promise<int> shared;
  const Fiber<void> fiber = SpawnFiber(pool_, [&]() -> CoTask<void> {
    ThisFiber::Node().Cancel(CancelRequestedError());
    const Future<int> watched = shared.future();
    co_await watched;
    Future<int> taken = mine.future();
    (void)co_await std::move(taken);
  });
  EXPECT_EQ(Settled(fiber), absl::OkStatus());
  EXPECT_TRUE(mine.cancel_requested());
  EXPECT_FALSE(shared.cancel_requested());
}

TEST_P(FiberTest, AChildThatIsCancelledAloneDoesNotFailItsParent) {
  const Promise<void> never;
  const Fiber<int> parent = SpawnFiber(pool_, [&]() -> CoTask<int> {
    const Fiber<void> child = SpawnChild(WaitFor(never.future()));
    child.Cancel();
    const absl::Status status = co_await child;
    co_return absl::IsCancelled(status) && CheckCancelled().ok() ? 1 : 0;
  });
  EXPECT_EQ(Settled(parent).value(), 1);
}

TEST_P(FiberTest, ARequestToCancelItsFutureCancelsIt) {
  const Promise<void> never;
  const Fiber<void> fiber = SpawnFiber(pool_, WaitFor(never.future()));
  const Future<void> future = fiber.future();
  future.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(Settled(fiber)));
  EXPECT_TRUE(fiber.is_cancelled());
}

TEST_P(FiberTest, InheritsLocalValues) {
  static const LocalKey<int> kKey;
  const Fiber<int> parent = SpawnFiber(pool_, []() -> CoTask<int> {
    kKey.Set(1);
    const Fiber<int> child = SpawnChild([] {
      const int seen = kKey.GetOr(0);
      kKey.Set(5);
      return seen;
    });
    kKey.Set(2);
    const absl::StatusOr<int>& seen = co_await child;
    co_return *seen * 10 + kKey.GetOr(0);
  });
  EXPECT_EQ(Settled(parent).value(), 12);
}

TEST_P(FiberTest, AChildMayRunOnAnotherRunner) {
  WorkStealingPool other({.name = "other", .workers = 1});
  const Fiber<bool> parent = SpawnFiber(pool_, [&]() -> CoTask<bool> {
    const Fiber<bool> child =
        SpawnChild([&] { return Runner::Current() == &other; }, {.on = &other});
    const absl::StatusOr<bool>& there = co_await child;
    co_return *there&& Runner::Current() == &pool_;
  });
  if (GetParam() == 0) {
    while (!parent.is_done()) pool_.RunUntilIdle();
  }
  EXPECT_TRUE(Settled(parent).value());
}

// CANCELLED of a child that nobody cancelled is an error like others: here what it waited for
// was given up elsewhere.
TEST_P(FiberTest, AChildThatEndsWithCancelledByItselfFailsItsParent) {
  const Fiber<int> parent = SpawnFiber(pool_, []() -> CoTask<int> {
    const Fiber<void> child = SpawnChild(Return(absl::CancelledError("given up elsewhere")));
    (void)co_await child;
    co_return 1;
  });
  EXPECT_EQ(Settled(parent).status(), absl::CancelledError("given up elsewhere"));
}

// What the parent makes of its child's error comes second, on any number of workers.
TEST_P(FiberTest, TheChildsErrorIsThePrimaryOne) {
  for (int round = 0; round < 50; ++round) {
    const Fiber<int> parent = SpawnFiber(pool_, []() -> CoTask<int> {
      const Fiber<void> child = SpawnChild(Return(absl::NotFoundError("no page")));
      const absl::Status status = co_await child;
      if (!status.ok()) co_return absl::InternalError("crawl failed");
      co_return 1;
    });
    const absl::Status status = Settled(parent).status();
    EXPECT_EQ(status, absl::NotFoundError("no page (and 1 more: INTERNAL: crawl failed)"));
  }
}

// The parent goes on, and ends, inside the callback that learns of the child's end first.
TEST(FiberErrorTest, OfAChildIsTheParentsBeforeAnybodySeesIt) {
  ManualRunner runner;
  const Fiber<int> parent = SpawnFiber(runner, [&]() -> CoTask<int> {
    const Fiber<void> child = SpawnChild(Return(absl::NotFoundError("no page")));
    child.future().OnReady([&](const absl::Status&) { runner.RunAll(); });
    const absl::Status status = co_await child;
    if (!status.ok()) co_return absl::InternalError("crawl failed");
    co_return 1;
  });
  runner.RunAll();
  EXPECT_EQ(parent.Wait().status(),
            absl::NotFoundError("no page (and 1 more: INTERNAL: crawl failed)"));
}

TEST_P(FiberTest, AnErrorThatIsPassedOnCountsOnce) {
  const Fiber<int> parent = SpawnFiber(pool_, []() -> CoTask<int> {
    const Fiber<int> child = SpawnChild([]() -> CoTask<int> {
      const Fiber<int> grandchild =
          SpawnChild([]() -> CoTask<int> { co_return absl::NotFoundError("no page"); });
      const absl::StatusOr<int>& value = co_await grandchild;
      if (absl::IsNotFound(value.status())) co_return value.status();
      co_return 1;
    });
    const absl::StatusOr<int>& value = co_await child;
    if (absl::IsNotFound(value.status())) co_return value.status();
    co_return 1;
  });
  EXPECT_EQ(Settled(parent).status(), absl::NotFoundError("no page"));
}

TEST(FiberErrorTest, OfManyChildrenBecomeOne) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<void> parent = SpawnFiber(runner, [&] {
    for (int i = 0; i < 12; ++i) {
      SpawnChild([i, opened = gate.future()]() -> CoTask<absl::Status> {
        (void)co_await opened;
        co_return absl::DataLossError("disk " + std::to_string(i));
      }).Ignore();
    }
  });
  runner.RunAll();
  gate.Fulfil();
  runner.RunAll();
  const absl::Status status = parent.Wait();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("disk 0 (and 11 more: DATA_LOSS: disk 1; DATA_LOSS: disk 2; "));
}

TEST_P(FiberTest, ADaemonEndsWithTheOthersOfItsParent) {
  const Promise<void> never;
  Fiber<void> daemon;
  const Fiber<int> parent = SpawnFiber(pool_, [&]() -> CoTask<int> {
    daemon = SpawnChild(WaitFor(never.future()), {.daemon = true});
    const Fiber<int> child = SpawnChild([]() -> CoTask<int> {
      co_await Yield();
      co_return 1;
    });
    co_await Yield();
    co_return 2;
  });
  EXPECT_EQ(Settled(parent).value(), 2);
  EXPECT_TRUE(absl::IsCancelled(*daemon.Peek()));
  EXPECT_FALSE(parent.is_cancelled());
}

TEST_P(FiberTest, ADaemonsFailureIsItsParents) {
  const Promise<void> never;
  const Fiber<void> parent = SpawnFiber(pool_, [&]() -> CoTask<absl::Status> {
    SpawnChild(Return(absl::NotFoundError("no page")), {.daemon = true}).Ignore();
    const Future<void> pending = never.future();
    (void)co_await pending;
    co_return absl::OkStatus();
  });
  EXPECT_EQ(Settled(parent), absl::NotFoundError("no page"));
}

TEST_P(FiberTest, GivesItsResultAway) {
  Fiber<std::unique_ptr<int>> fiber = SpawnFiber(pool_, [] { return std::make_unique<int>(3); });
  (void)Settled(fiber);
  EXPECT_TRUE(fiber.valid());
  const absl::StatusOr<std::unique_ptr<int>> taken = std::move(fiber).Take();
  EXPECT_EQ(**taken, 3);
  EXPECT_FALSE(Fiber<int>().valid());
}

// ---- waiting ----

TEST(FiberWaitTest, OnAWorkerOfItsOwnRunnerIsRefused) {
  WorkStealingPool pool({.name = "compute", .workers = 1});
  const Fiber<int> outer = SpawnFiber(pool, [] {
    const Fiber<int> inner = SpawnChild(Give(1));
    EXPECT_TRUE(absl::IsFailedPrecondition(inner.Wait().status()));
    return 2;
  });
  EXPECT_EQ(outer.Wait().value(), 2);
}

TEST(FiberWaitTest, OnAGoneRunnerIsUnavailable) {
  ManualRunner runner;
  runner.ShutdownAndWait(ShutdownMode::kDrain);
  const Fiber<int> fiber = SpawnFiber(runner, Give(1));
  EXPECT_TRUE(absl::IsUnavailable(fiber.Wait().status()));
}

TEST(FiberDeathTest, AChildOfNobodyIsABug) {
  EXPECT_DEATH((void)SpawnChild(Give(1)), "SpawnFiber");
}

}  // namespace
}  // namespace jackdaw
