// ForEach and ForEachIndex at 0, 1, 2 and 8 workers.

#include "scheduler/async/for_each.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using ForEachTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, ForEachTest, ::testing::Values(0, 1, 2, 8));

TEST_P(ForEachTest, CallsEachIndexOnce) {
  std::array<std::atomic<int>, 1000> calls{};
  const Future<void> all = ForEachIndex(
      pool_, 1000, [&calls](std::int64_t i) { calls[static_cast<std::size_t>(i)].fetch_add(1); });
  EXPECT_EQ(Settle(pool_, all), absl::OkStatus());
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count.load(), 1);
}

TEST_P(ForEachTest, CallsWithEachElementWhichItMayChange) {
  std::list<std::string> words = {"a", "b", "c"};
  const Future<void> all = ForEach(pool_, words, [](std::string& word) { word += "!"; });
  EXPECT_EQ(Settle(pool_, all), absl::OkStatus());
  EXPECT_EQ(words, std::list<std::string>({"a!", "b!", "c!"}));
}

TEST_P(ForEachTest, CallsMayBeCoroutines) {
  const std::vector<int> numbers = {1, 2, 3, 4};
  std::atomic<int> sum{0};
  const Promise<int> gate;
  const Future<void> all =
      ForEach(pool_, numbers, [&sum, gate = gate.future()](int number) -> CoTask<void> {
        const absl::StatusOr<int>& factor = co_await gate;
        sum += number * *factor;
      });
  gate.Fulfil(10);
  EXPECT_EQ(Settle(pool_, all), absl::OkStatus());
  EXPECT_EQ(sum.load(), 100);
}

TEST_P(ForEachTest, OfNoneIsReady) {
  EXPECT_EQ(ForEachIndex(pool_, 0, [](std::int64_t) { ADD_FAILURE(); }).Wait(), absl::OkStatus());
}

// D 41: siblings ran on after a failure.
TEST(ForEachOnARunnerTest, AfterAFailureWhatHasNotBegunNeverDoes) {
  ManualRunner runner;
  int calls = 0;
  const Future<void> all = ForEachIndex(runner, 100, [&calls](std::int64_t i) {
    ++calls;
    return i < 3 ? absl::OkStatus() : absl::NotFoundError("the fourth");
  });
  runner.RunAll();
  EXPECT_EQ(all.Wait(), absl::NotFoundError("the fourth"));
  EXPECT_EQ(calls, 4);
}

TEST(ForEachOnARunnerTest, ACancelStopsWhatHasNotBegun) {
  ManualRunner runner;
  int calls = 0;
  const Future<void> all = ForEachIndex(runner, 10, [&calls](std::int64_t) { ++calls; });
  runner.RunOne();
  all.RequestCancel();
  runner.RunAll();
  EXPECT_TRUE(absl::IsCancelled(all.Wait()));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace jackdaw
