// Scopes at 0, 1, 2 and 8 workers; on runners driven by hand where the order of events is the
// point. Groups of fibers are in fiber_groups_test.cc.

#include "scheduler/async/scope.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

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

// A protected section is for cleaning up, so it does begin.
TEST_P(ScopeTest, AShieldedOneOfACancelledFiberBegins) {
  const Fiber<bool> fiber = SpawnFiber(pool_, []() -> CoTask<bool> {
    ThisFiber::Node().Cancel(CancelRequestedError());
    auto run = Scope::RunShielded([](Scope& scope) -> CoTask<int> {
      const Fiber<int> inside = scope.Spawn([] { return 1; });
      const absl::StatusOr<int>& value = co_await inside;
      co_return *value;
    });
    const absl::StatusOr<int> result = co_await run;
    co_return result.ok() && *result == 1;
  });
  EXPECT_TRUE(Settle(pool_, fiber.future()).value());
}

TEST_P(ScopeTest, IsLeftToWhatWasAround) {
  const Fiber<bool> fiber = SpawnFiber(pool_, []() -> CoTask<bool> {
    const std::uint64_t outermost = ThisFiber::id();
    auto outer = Scope::Run([outermost](Scope&) -> CoTask<bool> {
      const std::uint64_t around = ThisFiber::id();
      auto inner = Scope::Run([around](Scope& scope) -> CoTask<bool> {
        scope.Cancel();
        co_return ThisFiber::id() != around;
      });
      const absl::StatusOr<bool> differs = co_await inner;
      co_return *differs&& around != outermost&& ThisFiber::id() == around&& CheckCancelled().ok();
    });
    const absl::StatusOr<bool> right = co_await outer;
    co_return *right&& ThisFiber::id() == outermost;
  });
  EXPECT_TRUE(Settle(pool_, fiber.future()).value());
}

TEST_P(ScopeTest, FailsWithWhatItsBodyThrows) {
  const Future<void> done = Spawn(pool_, []() -> CoTask<absl::Status> {
    auto run = Scope::Run([](Scope&) -> CoTask<void> {
      throw std::runtime_error("thrown");
      co_return;
    });
    const absl::Status status = co_await run;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, done), absl::UnknownError("thrown"));
}

TEST_P(ScopeTest, FailIsItsResultAndCancelsIt) {
  const Promise<void> never;
  const Future<void> done = Spawn(pool_, [&]() -> CoTask<absl::Status> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
      const Fiber<void> waiting = scope.Spawn(WaitFor(never.future()));
      scope.Fail(absl::NotFoundError("no page"));
      (void)co_await waiting;
      EXPECT_TRUE(scope.is_cancelled());
    });
    const absl::Status status = co_await run;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, done), absl::NotFoundError("no page"));
}

TEST_P(ScopeTest, ReleasesRunWhateverHappened) {
  const Promise<void> never;
  std::string order;
  const Fiber<void> fiber = SpawnFiber(pool_, [&]() -> CoTask<absl::Status> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<absl::Status> {
      scope.OnRelease([&] { order += " last"; });
      const auto gone = scope.OnRelease([&] { order += " gone"; });
      scope.OnRelease([&] {
        order += " adds";
        scope.OnRelease([&] { order += " added"; });
      });
      scope.OnRelease([] { throw std::runtime_error("on purpose"); });
      EXPECT_TRUE(scope.RemoveRelease(gone));
      EXPECT_FALSE(scope.RemoveRelease(gone));
      (void)scope.Spawn([&]() -> CoTask<absl::Status> {
        const Future<void> gate = never.future();
        const absl::Status status = co_await gate;
        order += "fiber";
        co_return status;
      });
      co_await Yield();
      co_return absl::NotFoundError("no page");
    });
    const absl::Status status = co_await run;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, fiber.future()), absl::NotFoundError("no page"));
  // A fiber that had not begun never did.
  EXPECT_TRUE(order == "fiber adds added last" || order == " adds added last") << order;
}

TEST_P(ScopeTest, ADaemonThatOutlivesTheOthersCannotStartMore) {
  const Promise<void> never;
  absl::Status refused;
  const Future<void> done = Spawn(pool_, [&]() -> CoTask<absl::Status> {
    auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
      scope
          .SpawnDaemon([&]() -> CoTask<void> {
            auto shielded = Scope::RunShielded([&](Scope&) -> CoTask<void> {
              // Until the scope around has ended but for this daemon.
              while (!absl::IsFailedPrecondition(refused)) {
                const Fiber<void> late = scope.Spawn([] {});
                refused = late.is_failed() ? StatusOf(*late.Peek()) : absl::OkStatus();
                co_await Yield();
              }
            });
            (void)co_await shielded;
          })
          .Ignore();
      co_await Yield();
    });
    const absl::Status status = co_await run;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has ended"));
}

TEST(ScopeDumpTest, ShowsScopesInTheTree) {
  ManualRunner runner;
  const Promise<void> never;
  const Fiber<void> fiber =
      SpawnFiber(runner,
                 [&]() -> CoTask<void> {
                   auto run = Scope::RunShielded(
                       [&](Scope& scope) -> CoTask<void> {
                         scope.Spawn(WaitFor(never.future()), {.name = "leaf"}).Ignore();
                         co_return;
                       },
                       {.name = "cleanup"});
                   (void)co_await run;
                 },
                 {.name = "root"});
  runner.RunAll();
  const std::string dump = fiber.DumpTree();
  EXPECT_THAT(dump, HasSubstr("\"root\": in #"));
  EXPECT_THAT(dump, HasSubstr("\n  scope #"));
  EXPECT_THAT(dump, HasSubstr(" \"cleanup\", shielded: waits for its 1 child\n    #"));
  EXPECT_THAT(dump, HasSubstr(" \"leaf\": waits for a future\n"));
  never.Fulfil();
  runner.RunAll();
  EXPECT_TRUE(fiber.is_success());
}

// ---- the runner is gone ----

// A coroutine in a scope on `gone`, whose fiber on `other` refers to a local of it.
class ScopeWithoutRunnerTest : public ::testing::Test {
 protected:
  // The body waits for `gate`; the fiber, in a protected section, for `fiber_gate`.
  Future<void> Start() {
    return Spawn(gone_, [this]() -> CoTask<absl::Status> {
      const auto local = std::make_shared<std::string>("local");
      watch_ = local;
      auto run = Scope::Run([this, &local](Scope& scope) -> CoTask<absl::Status> {
        scope.OnRelease([this, &local] { released_with_ = *local; });
        scope.Spawn(UseLater(*local), {.on = &other_}).Ignore();
        const Future<void> opened = gate_.future();
        const absl::Status status = co_await opened;
        co_return status;
      });
      const absl::Status status = co_await run;
      co_return status;
    });
  }
  CoTask<void> UseLater(const std::string& local) {
    auto run = Scope::RunShielded([this, &local](Scope&) -> CoTask<void> {
      const Future<void> opened = fiber_gate_.future();
      (void)co_await opened;
      used_ = local;
    });
    (void)co_await run;
  }

  ManualRunner gone_;
  ManualRunner other_;
  const Promise<void> gate_;
  const Promise<void> fiber_gate_;
  std::weak_ptr<std::string> watch_;
  std::string used_;
  std::string released_with_;
};

TEST_F(ScopeWithoutRunnerTest, TheCoroutineDiesAfterTheFibersThatReferToIt) {
  const Future<void> done = Start();
  gone_.RunAll();
  other_.RunAll();
  gone_.ShutdownAndWait(ShutdownMode::kCancel);
  gate_.Fulfil();  // It cannot go on, and its fiber has not ended.
  EXPECT_FALSE(done.is_ready());
  EXPECT_FALSE(watch_.expired());
  fiber_gate_.Fulfil();
  other_.RunAll();
  EXPECT_EQ(used_, "local");
  EXPECT_EQ(released_with_, "local");
  EXPECT_TRUE(watch_.expired());
  EXPECT_TRUE(absl::IsUnavailable(done.Wait())) << done.Wait();
}

TEST_F(ScopeWithoutRunnerTest, TheSameOfOneThatOnlyWaitsForItsFibers) {
  const Future<void> done = Start();
  gone_.RunAll();
  other_.RunAll();
  gate_.Fulfil();
  gone_.RunAll();  // Out of the body.
  gone_.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_FALSE(done.is_ready());
  fiber_gate_.Fulfil();
  other_.RunAll();
  EXPECT_EQ(used_, "local");
  EXPECT_TRUE(watch_.expired());
  EXPECT_TRUE(absl::IsUnavailable(done.Wait())) << done.Wait();
}

TEST_F(ScopeWithoutRunnerTest, TheSameWhereTheRunnerDropsIt) {
  const Future<void> done = Start();
  gone_.RunAll();
  other_.RunAll();
  gate_.Fulfil();  // It is queued when its runner is cancelled.
  gone_.ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_FALSE(watch_.expired());
  fiber_gate_.Fulfil();
  other_.RunAll();
  EXPECT_EQ(released_with_, "local");
  EXPECT_TRUE(watch_.expired());
  EXPECT_TRUE(absl::IsCancelled(done.Wait())) << done.Wait();
}

}  // namespace
}  // namespace jackdaw
