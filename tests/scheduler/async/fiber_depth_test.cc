// A million ready awaits of a fiber in a loop need no stack, nor do trees and chains of any
// size when they are cancelled, fail, resolve or are shown. Built as the rest and once more at
// -O0, the library's part included.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/scope.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

constexpr int kMillion = 1'000'000;
constexpr int kChain = 100'000;

TEST(FiberDepthTest, AMillionAwaitsOfAReadyFutureNeedNoStack) {
  ManualRunner runner;
  const Fiber<std::int64_t> sum = SpawnFiber(runner, []() -> CoTask<std::int64_t> {
    std::int64_t total = 0;
    const Future<int> ready = Future<int>::Ready(1);
    for (int i = 0; i < kMillion; ++i) {
      const absl::StatusOr<int>& value = co_await ready;
      total += *value;
    }
    co_return total;
  });
  runner.RunAll();
  EXPECT_EQ(sum.Wait().value(), kMillion);
}

TEST(FiberDepthTest, AMillionAwaitsOfAFiberThatIsDoneNeedNoStack) {
  ManualRunner runner;
  const Fiber<std::int64_t> sum = SpawnFiber(runner, []() -> CoTask<std::int64_t> {
    std::int64_t total = 0;
    const Fiber<int> done = SpawnChild([] { return 1; });
    for (int i = 0; i < kMillion; ++i) {
      const absl::StatusOr<int>& value = co_await done;
      total += *value;
    }
    co_return total;
  });
  runner.RunAll();
  EXPECT_EQ(sum.Wait().value(), kMillion);
}

TEST(FiberDepthTest, AHundredThousandScopesInARowNeedNoStack) {
  ManualRunner runner;
  const Fiber<int> count = SpawnFiber(runner, []() -> CoTask<int> {
    int entered = 0;
    for (int i = 0; i < kChain; ++i) {
      auto run = Scope::Run([&](Scope&) -> CoTask<void> {
        ++entered;
        co_return;
      });
      (void)co_await run;
    }
    co_return entered;
  });
  runner.RunAll();
  EXPECT_EQ(count.Wait().value(), kChain);
}

// Each the child of the one before; the last one waits for `gate`.
CoTask<int> Descend(int depth, Future<void> gate, absl::Status end) {
  if (depth == 0) {
    const absl::Status opened = co_await gate;
    if (!opened.ok()) co_return opened;
    if (!end.ok()) co_return end;
    co_return 0;
  }
  const Fiber<int> child = SpawnChild(Descend(depth - 1, std::move(gate), std::move(end)));
  const absl::StatusOr<int>& below = co_await child;
  if (!below.ok()) co_return below.status();
  co_return *below + 1;
}

TEST(FiberDepthTest, AChainResolvesWithoutStack) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<int> root = SpawnFiber(runner, Descend(kChain, gate.future(), absl::OkStatus()));
  runner.RunAll();
  EXPECT_FALSE(root.is_done());
  gate.Fulfil();
  runner.RunAll();
  EXPECT_EQ(root.Wait().value(), kChain);
}

TEST(FiberDepthTest, AChainIsCancelledWithoutStack) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<int> root = SpawnFiber(runner, Descend(kChain, gate.future(), absl::OkStatus()));
  runner.RunAll();
  root.Cancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(root.Wait().status()));
}

TEST(FiberDepthTest, AFailureGoesUpAChainWithoutStack) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<int> root =
      SpawnFiber(runner, Descend(kChain, gate.future(), absl::NotFoundError("no page")));
  runner.RunAll();
  gate.Fulfil();
  runner.RunAll();
  // All of them pass it on, and it is one failure.
  EXPECT_EQ(root.Wait().status(), absl::NotFoundError("no page"));
}

TEST(FiberDepthTest, AChainIsDroppedWithoutStack) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<int> root = SpawnFiber(runner, Descend(kChain, gate.future(), absl::OkStatus()));
  runner.RunAll();
  runner.ShutdownAndWait(ShutdownMode::kCancel);
  gate.Fulfil();
  EXPECT_TRUE(absl::IsUnavailable(root.Wait().status())) << root.Wait().status();
}

TEST(FiberDepthTest, AChainIsShownWithoutStackAndWithinTheLimits) {
  ManualRunner runner;
  const Promise<void> gate;
  const Fiber<int> root = SpawnFiber(runner, Descend(kChain, gate.future(), absl::OkStatus()));
  runner.RunAll();
  const std::string dump = root.DumpTree();
  EXPECT_LT(dump.size(), 10'000u * 300u);
  EXPECT_NE(dump.find("... and more\n"), std::string::npos);
  gate.Fulfil();
  runner.RunAll();
}

TEST(FiberDepthTest, AHundredThousandChildrenOfOneFiber) {
  ManualRunner runner;
  const Promise<void> never;
  int ran = 0;
  const Fiber<void> root = SpawnFiber(runner, [&]() -> CoTask<absl::Status> {
    for (int i = 0; i < kChain; ++i) {
      SpawnChild([&ran, gate = never.future()]() -> CoTask<absl::Status> {
        ++ran;
        const absl::Status status = co_await gate;
        co_return status;
      }).Ignore();
    }
    const Future<void> gate = never.future();
    const absl::Status status = co_await gate;
    co_return status;
  });
  runner.RunAll();
  EXPECT_EQ(ran, kChain);
  root.Cancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(root.Wait()));
}

}  // namespace
}  // namespace jackdaw
