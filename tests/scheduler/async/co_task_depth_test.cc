// What a compiler may get wrong about coroutines: stack growth where it turns no call into a
// jump (at -O0), and temporaries around co_await. Built as the rest and once more at -O0.

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

constexpr int kMillion = 1'000'000;

CoTask<int> Give(int value) { co_return value; }

// C 36.
TEST(CoTaskDepthTest, AMillionReadyFuturesNeedNoStack) {
  ManualRunner runner;
  const Future<int> sum = Spawn(runner, []() -> CoTask<int> {
    const Future<int> one = Future<int>::Ready(1);
    int total = 0;
    for (int i = 0; i < kMillion; ++i) {
      const absl::StatusOr<int>& value = co_await one;
      total += *value;
    }
    co_return total;
  });
  runner.RunAll();
  EXPECT_EQ(sum.Wait().value(), kMillion);
}

// C 37.
TEST(CoTaskDepthTest, AMillionChildrenInARowNeedNoStack) {
  ManualRunner runner;
  const Future<int> sum = Spawn(runner, []() -> CoTask<int> {
    int total = 0;
    for (int i = 0; i < kMillion; ++i) {
      CoTask<int> child = Give(1);
      const absl::StatusOr<int> value = co_await child;
      total += *value;
    }
    co_return total;
  });
  runner.RunAll();
  EXPECT_EQ(sum.Wait().value(), kMillion);
}

CoTask<int> Nest(int depth) {
  if (depth == 0) co_return 0;
  CoTask<int> child = Nest(depth - 1);
  const absl::StatusOr<int> value = co_await child;
  co_return *value + 1;
}

TEST(CoTaskDepthTest, AHundredThousandNestedChildrenNeedNoStack) {
  ManualRunner runner;
  const Future<int> depth = Spawn(runner, Nest(100'000));
  runner.RunAll();
  EXPECT_EQ(depth.Wait().value(), 100'000);
}

TEST(CoTaskDepthTest, AChainOfCoroutinesThatWakeEachOtherNeedsNoStack) {
  ManualRunner runner;
  const Promise<int> gate;
  Future<int> last = gate.future();
  for (int i = 0; i < 100'000; ++i) {
    last = Spawn(runner, [last]() -> CoTask<int> {
      const absl::StatusOr<int>& value = co_await last;
      co_return *value + 1;
    });
  }
  runner.RunAll();
  gate.Fulfil(0);
  runner.RunAll();
  EXPECT_EQ(last.Wait().value(), 100'000);
}

// F 68, a canary for g++ 12: arguments, captures and locals are destroyed exactly once where
// the operand of co_await has a name.
struct Counted {
  explicit Counted(int* c) : count(c) { ++*count; }
  Counted(const Counted& other) : count(other.count) { ++*count; }
  Counted(Counted&& other) noexcept : count(other.count) { ++*count; }
  ~Counted() { --*count; }
  Counted& operator=(const Counted&) = delete;
  int* count;
};

CoTask<std::string> Use(Counted argument, std::string text) {
  const Counted local = argument;
  CoTask<int> child = Give(*local.count);
  const absl::StatusOr<int> alive = co_await child;
  co_return *alive > 0 ? text + "!" : "";
}

TEST(CompilerCanaryTest, EverythingIsDestroyedOnce) {
  int alive = 0;
  {
    ManualRunner runner;
    const Future<std::string> result =
        Spawn(runner, [captured = Counted(&alive)]() -> CoTask<std::string> {
          std::string text(64, 'a');
          CoTask<std::string> child = Use(captured, std::move(text));
          absl::StatusOr<std::string> used = co_await child;
          co_return *std::move(used);
        });
    EXPECT_GT(alive, 0);
    runner.RunAll();
    EXPECT_EQ(result.Wait().value(), std::string(64, 'a') + "!");
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(alive, 0);
}

TEST(CompilerCanaryTest, AConditionOnAnAwaitedResultIsEvaluatedOnce) {
  int calls = 0;
  ManualRunner runner;
  const Future<int> result = Spawn(runner, [&calls]() -> CoTask<int> {
    const auto count = [&calls]() -> CoTask<int> { co_return ++calls; };
    CoTask<int> first = count();
    const absl::StatusOr<int> value = co_await first;
    if (value.ok() && *value == 1) {
      CoTask<int> second = count();
      const absl::StatusOr<int> again = co_await second;
      co_return *again;
    }
    co_return -1;
  });
  runner.RunAll();
  EXPECT_EQ(result.Wait().value(), 2);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace jackdaw
