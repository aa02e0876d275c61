// Hooks on the cancel of a fiber; the tree as DumpTree() shows it; the debug mode that reports
// children whom nobody awaited. On a runner driven by hand.

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/async/fiber.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

CoTask<int> Give(int value) { co_return value; }

// Waits for `gate` and gives what the await gave.
CoTask<absl::Status> WaitFor(Future<void> gate) {
  const absl::Status status = co_await gate;
  co_return status;
}

TEST(FiberHookTest, IsCalledOnceOnCancel) {
  ManualRunner runner;
  const Promise<void> never;
  const Fiber<void> fiber = SpawnFiber(runner, WaitFor(never.future()));
  int called = 0;
  fiber.AddOnCancel([&] { ++called; });
  const auto removed = fiber.AddOnCancel([&] { called += 100; });
  EXPECT_TRUE(fiber.RemoveOnCancel(removed));
  EXPECT_FALSE(fiber.RemoveOnCancel(removed));
  fiber.Cancel();
  fiber.Cancel();
  EXPECT_EQ(called, 1);
  fiber.AddOnCancel([&] { called += 10; });  // At once.
  EXPECT_EQ(called, 11);
  runner.RunAll();
  EXPECT_TRUE(fiber.is_done());
}

TEST(FiberHookTest, OfAFiberThatEndsIsDestroyedUncalled) {
  ManualRunner runner;
  const Fiber<int> fiber = SpawnFiber(runner, Give(1));
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = owned;
  fiber.AddOnCancel([fiber, owned = std::move(owned)] { ADD_FAILURE(); });
  runner.RunAll();
  EXPECT_TRUE(watch.expired());
  fiber.Cancel();
}

TEST(FiberHookTest, GuardsEndWithTheirBlock) {
  ManualRunner runner;
  const Promise<void> first;
  const Promise<void> second;
  std::string called;
  const Fiber<void> fiber = SpawnFiber(runner, [&]() -> CoTask<void> {
    const OnCancelGuard outer([&] { called += "outer "; });
    {
      const OnCancelGuard inner([&] { called += "inner "; });
      const Future<void> gate = first.future();
      co_await gate;
    }
    const Future<void> gate = second.future();
    co_await gate;
  });
  runner.RunAll();
  first.Fulfil();
  runner.RunAll();
  fiber.Cancel();
  EXPECT_EQ(called, "outer ");
  runner.RunAll();
}

TEST(FiberHookTest, SeesAllBelowCancelled) {
  ManualRunner runner;
  const Promise<void> never;
  Fiber<void> child;
  const Fiber<void> parent = SpawnFiber(runner, [&]() -> CoTask<absl::Status> {
    child = SpawnChild(WaitFor(never.future()));
    const absl::Status status = co_await child;
    co_return status;
  });
  runner.RunAll();
  bool below_cancelled = false;
  parent.AddOnCancel([&] { below_cancelled = child.is_cancelled(); });
  parent.Cancel();
  EXPECT_TRUE(below_cancelled);
  runner.RunAll();
}

TEST(FiberHookTest, ThrowsIntoNothingElse) {
  ManualRunner runner;
  const Promise<void> never;
  const Fiber<void> fiber = SpawnFiber(runner, WaitFor(never.future()));
  bool called = false;
  fiber.AddOnCancel([] { throw 1; });
  fiber.AddOnCancel([&] { called = true; });
  fiber.Cancel();
  EXPECT_TRUE(called);
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(fiber.Wait()));
}

// What a hook refers to need only outlive the fiber.
TEST(FiberHookTest, HasReturnedBeforeTheFiberResolves) {
  ManualRunner runner;
  const Promise<void> entered;
  const Promise<void> go_on;
  const Fiber<int> fiber = SpawnFiber(runner, Give(1));
  fiber.AddOnCancel([&] {
    entered.Fulfil();
    (void)go_on.future().Wait();
  });
  std::thread canceller([&] { fiber.Cancel(); });
  (void)entered.future().Wait();
  runner.RunAll();  // It ends, as it had not begun; but a hook is running.
  EXPECT_FALSE(fiber.is_done());
  go_on.Fulfil();
  canceller.join();
  EXPECT_TRUE(fiber.is_done());
  EXPECT_TRUE(absl::IsCancelled(fiber.Wait().status()));
}

TEST(FiberHookTest, MayEndItsOwnFiber) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<void> fiber = SpawnFiber(runner, WaitFor(gate.future()));
  runner.RunAll();
  fiber.AddOnCancel([&] {
    gate.Fulfil();
    runner.RunAll();
  });
  fiber.Cancel();
  EXPECT_EQ(fiber.Wait(), absl::OkStatus());  // It had what it waited for.
}

// ---- debugging ----

TEST(FiberDumpTest, ShowsTheTreeAndWhatEachWaitsFor) {
  ManualRunner runner;
  const Promise<void> gate;
  Fiber<void> slow;
  Fiber<void> daemon;
  const Fiber<void> root =
      SpawnFiber(runner,
                 [&]() -> CoTask<absl::Status> {
                   slow = SpawnChild(WaitFor(gate.future()), {.name = "slow"});
                   daemon = SpawnChild([] {}, {.name = "daemon", .protect = true, .daemon = true});
                   const absl::Status status = co_await slow;
                   co_return status;
                 },
                 {.name = "root"});
  EXPECT_THAT(root.DumpTree(), HasSubstr("\"root\": queued\n"));
  EXPECT_TRUE(runner.RunOne());
  EXPECT_TRUE(runner.RunOne());
  const std::string id = std::to_string(slow.id());
  EXPECT_EQ(root.DumpTree(), "#" + std::to_string(root.id()) + " \"root\": waits for #" + id +
                                 "\n  #" + id + " \"slow\": waits for a future\n  #" +
                                 std::to_string(daemon.id()) +
                                 " \"daemon\", daemon, protected: queued\n");
  root.Cancel();
  EXPECT_THAT(root.DumpTree(), HasSubstr("cancelled"));
  runner.RunAll();
  EXPECT_EQ(root.DumpTree(), "#" + std::to_string(root.id()) + " \"root\": resolved, cancelled\n");
}

class UnawaitedTest : public ::testing::Test {
 protected:
  FiberOptions Watched(std::string name) {
    return {.name = std::move(name),
            .on_unawaited = [this](absl::string_view report) { reports_.emplace_back(report); }};
  }
  ManualRunner runner_;
  std::vector<std::string> reports_;
};

TEST_F(UnawaitedTest, AChildThatNobodyAwaitedIsReported) {
  const Fiber<int> parent = SpawnFiber(
      runner_,
      [] {
        (void)SpawnChild(Give(1), {.name = "lost"});
        return 1;
      },
      Watched("careless"));
  runner_.RunAll();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_THAT(reports_[0], HasSubstr("\"careless\" ended, and nobody awaited 1 child: #"));
  EXPECT_THAT(reports_[0], HasSubstr("\"lost\""));
}

TEST_F(UnawaitedTest, AwaitedCancelledAndDaemonChildrenAreNot) {
  const Promise<void> never;
  const Fiber<void> parent = SpawnFiber(
      runner_,
      [&]() -> CoTask<void> {
        const Fiber<int> awaited = SpawnChild(Give(1));
        co_await awaited;
        const Fiber<void> cancelled = SpawnChild(WaitFor(never.future()));
        cancelled.Cancel();
        (void)SpawnChild(WaitFor(never.future()), {.daemon = true});
      },
      Watched("careful"));
  runner_.RunAll();
  EXPECT_TRUE(parent.is_done());
  EXPECT_TRUE(reports_.empty());
}

TEST_F(UnawaitedTest, DescendantsAreWatchedToo) {
  const Fiber<void> root = SpawnFiber(
      runner_,
      []() -> CoTask<void> {
        const Fiber<int> child = SpawnChild(
            [] {
              (void)SpawnChild(Give(1), {.name = "grandchild"});
              return 1;
            },
            {.name = "child"});
        co_await child;
      },
      Watched("root"));
  runner_.RunAll();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_THAT(reports_[0], HasSubstr("\"child\" ended"));
}

// Who fails, or is cancelled, had no time to await all.
TEST_F(UnawaitedTest, NothingIsSaidOfAParentThatFailedOrWasCancelled) {
  const Promise<void> never;
  const Fiber<void> failed = SpawnFiber(
      runner_,
      []() -> CoTask<absl::Status> {
        (void)SpawnChild(Give(1));
        co_await Yield();
        co_return absl::NotFoundError("no page");
      },
      Watched("failed"));
  const Fiber<void> cancelled = SpawnFiber(
      runner_,
      [&]() -> CoTask<absl::Status> {
        (void)SpawnChild(Give(1));
        const Future<void> gate = never.future();
        const absl::Status status = co_await gate;
        co_return status;
      },
      Watched("cancelled"));
  runner_.RunAll();
  cancelled.Cancel();
  runner_.RunAll();
  EXPECT_TRUE(failed.is_done());
  EXPECT_TRUE(cancelled.is_done());
  EXPECT_TRUE(reports_.empty());
}

TEST_F(UnawaitedTest, AnyWayToLookAtAChildCounts) {
  const Fiber<void> parent = SpawnFiber(
      runner_,
      []() -> CoTask<void> {
        SpawnChild(Give(1)).Ignore();
        (void)SpawnChild(Give(2)).future();
        Fiber<int> taken = SpawnChild(Give(3));
        co_await Yield();
        (void)std::move(taken).Take();
        const Fiber<int> refused = SpawnChild(Give(4));
        (void)refused.Wait();
      },
      Watched("careful"));
  EXPECT_TRUE(runner_.RunOne());
  while (!parent.is_done() && runner_.RunOne()) continue;
  EXPECT_TRUE(parent.is_done());
  EXPECT_TRUE(reports_.empty());
}

TEST(UnawaitedDeathTest, AbortsWhereAsked) {
  const auto leak = [] {
    ManualRunner runner;
    const Fiber<int> parent = SpawnFiber(runner,
                                         [] {
                                           (void)SpawnChild(Give(1));
                                           return 1;
                                         },
                                         {.on_unawaited = &AbortOnUnawaited});
    runner.RunAll();
  };
  EXPECT_DEATH(leak(), "nobody awaited 1 child");
}

}  // namespace
}  // namespace jackdaw
