// Scopes and groups of fibers at 0, 1, 2 and 8 workers.

#include "scheduler/async/scope.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

using ScopeTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, ScopeTest, ::testing::Values(0, 1, 2, 8));

CoTask<absl::Status> WaitFor(Future<void> gate) {
  const absl::Status status = co_await gate;
  co_return status;
}

TEST_P(ScopeTest, ReleasesInReverseOrderOnceAllHaveEnded) {
  std::string order;
  const Future<int> done = Spawn(pool_, [&]() -> CoTask<int> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<int> {
      scope.OnRelease([&] { order += " first"; });
      scope.OnRelease([&] { order += " second"; });
      (void)scope.Spawn([&]() -> CoTask<void> {
        co_await Yield();
        order += "fiber";
      });
      co_return 1;
    });
    const absl::StatusOr<int> result = co_await run;
    order += " after";
    co_return *result;
  });
  EXPECT_EQ(Settle(pool_, done).value(), 1);
  EXPECT_EQ(order, "fiber second first after");
}

TEST_P(ScopeTest, AFailureCancelsTheScopeAndGoesNoFurther) {
  const Promise<void> never;
  const Fiber<bool> outer = SpawnFiber(pool_, [&]() -> CoTask<bool> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
      (void)scope.Spawn(WaitFor(never.future()));
      (void)scope.Spawn([] { return absl::NotFoundError("gone"); });
      co_return;
    });
    const absl::Status status = co_await run;
    co_return status == absl::NotFoundError("gone") && CheckCancelled().ok();
  });
  EXPECT_TRUE(Settle(pool_, outer.future()).value());
}

TEST_P(ScopeTest, DaemonsAreCancelledWhenTheOthersHaveEnded) {
  const Promise<void> never;
  Fiber<void> daemon;
  const Future<int> done = Spawn(pool_, [&]() -> CoTask<int> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<int> {
      daemon = scope.SpawnDaemon(WaitFor(never.future()));
      co_return 1;
    });
    const absl::StatusOr<int> result = co_await run;
    co_return *result;
  });
  EXPECT_EQ(Settle(pool_, done).value(), 1);
  EXPECT_TRUE(absl::IsCancelled(daemon.Wait()));
}

TEST_P(ScopeTest, AShieldHoldsACancelBackUntilItsEnd) {
  const Promise<void> inside;
  const Promise<void> gate;
  absl::Status masked = absl::UnknownError("not reached");
  const Fiber<bool> fiber = SpawnFiber(pool_, [&]() -> CoTask<bool> {
    auto run = Scope::RunShielded([&](Scope&) -> CoTask<absl::Status> {
      inside.Fulfil();
      const Future<void> opened = gate.future();
      const absl::Status status = co_await opened;
      masked = CheckCancelled();
      co_return status;
    });
    const absl::Status status = co_await run;
    co_return status.ok() && absl::IsCancelled(CheckCancelled());
  });
  (void)Settle(pool_, inside.future());
  fiber.Cancel();
  gate.Fulfil();
  EXPECT_TRUE(Settle(pool_, fiber.future()).value());
  EXPECT_EQ(masked, absl::OkStatus());
}

TEST_P(ScopeTest, OfACancelledFiberDoesNotBegin) {
  const Fiber<bool> fiber = SpawnFiber(pool_, []() -> CoTask<bool> {
    ThisFiber::Node().Cancel(CancelRequestedError());
    bool ran = false;
    auto run = Scope::Run([&](Scope&) -> CoTask<void> {
      ran = true;
      co_return;
    });
    const absl::Status status = co_await run;
    co_return absl::IsCancelled(status) && !ran;
  });
  EXPECT_TRUE(Settle(pool_, fiber.future()).value());
}

}  // namespace
}  // namespace jackdaw
