// The parallel algorithms at 0, 1, 2 and 8 workers, called from outside the pool and from one
// of its tasks, with adaptive and with fixed chunks: the results are exact each time.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/parallel_find.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/parallel_map.h"
#include "scheduler/async/parallel_reduce.h"
#include "scheduler/async/parallel_scan.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

class ParallelTest : public AtWorkerCounts {
 protected:
  // Runs `check(options)` here and on a worker, with chunks of several sizes.
  template <typename F>
  void Everywhere(F check) {
    for (const std::int64_t chunk : {0, 1, 7, 1000}) {
      SCOPED_TRACE(absl::StrCat("chunk ", chunk));
      const ParallelOptions options{.chunk = chunk};
      check(options);
      EXPECT_EQ(Settle(pool_, Spawn(pool_, [&] { check(options); })), absl::OkStatus());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, ParallelTest, ::testing::Values(0, 1, 2, 8));

std::vector<std::int64_t> Numbers(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  Random random(static_cast<std::uint64_t>(count) + 1);
  for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random.Below(1000));
  return numbers;
}

TEST_P(ParallelTest, ForVisitsEachNumberOnce) {
  Everywhere([&](const ParallelOptions& options) {
    for (const int count : {0, 1, 2, 3, 64, 1000, 20'000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      EXPECT_EQ(ParallelFor(
                    pool_, 5, 5 + count, [&](int i) { ++visits[static_cast<std::size_t>(i - 5)]; },
                    options),
                absl::OkStatus());
      for (const std::atomic<int>& times : visits) ASSERT_EQ(times.load(), 1);
    }
  });
}

TEST_P(ParallelTest, ForChangesElementsInPlace) {
  Everywhere([&](const ParallelOptions& options) {
    std::vector<std::string> names(3000, "x");
    EXPECT_EQ(
        ParallelFor(
            pool_, names.begin(), names.end(), [](std::string& name) { name += "y"; }, options),
        absl::OkStatus());
    EXPECT_EQ(names, std::vector<std::string>(3000, "xy"));
  });
}

TEST_P(ParallelTest, ForOfAnInvertedRangeDoesNothing) {
  EXPECT_EQ(ParallelFor(pool_, 3, 2, [](int) { ADD_FAILURE(); }), absl::OkStatus());
}

// Seed flaw 24: a sum that copied in parallel and added up alone.
TEST_P(ParallelTest, ReduceAddsUpExactly) {
  Everywhere([&](const ParallelOptions& options) {
    for (const std::int64_t count : {0, 1, 2, 65, 100'000}) {
      const std::vector<std::int64_t> numbers = Numbers(count);
      const absl::StatusOr<std::int64_t> sum =
          ParallelReduce(pool_, numbers.begin(), numbers.end(), std::int64_t{7}, std::identity(),
                         std::plus<>(), options);
      EXPECT_EQ(sum.value(), std::accumulate(numbers.begin(), numbers.end(), std::int64_t{7}));
    }
  });
}

// Associative, not commutative.
TEST_P(ParallelTest, ReduceKeepsTheOrder) {
  std::string expected = ":";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&expected, i, ",");
  Everywhere([&](const ParallelOptions& options) {
    EXPECT_EQ(ParallelReduce(
                  pool_, 0, 500, std::string(":"), [](int i) { return absl::StrCat(i, ","); },
                  [](std::string a, const std::string& b) { return std::move(a) + b; }, options)
                  .value(),
              expected);
  });
}

TEST_P(ParallelTest, ReduceOfWhatCannotBeCopied) {
  const auto sum = ParallelReduce(
      pool_, 0, 100, std::make_unique<int>(0), [](int i) { return std::make_unique<int>(i); },
      [](std::unique_ptr<int> a, std::unique_ptr<int> b) {
        *a += *b;
        return a;
      },
      {.chunk = 1});
  EXPECT_EQ(**sum, 4950);
}

TEST_P(ParallelTest, ScansAsTheStandardOnes) {
  const auto join = [](std::string a, const std::string& b) { return std::move(a) + b; };
  Everywhere([&](const ParallelOptions& options) {
    for (const std::int64_t count : {0, 1, 2, 9, 300}) {
      std::vector<std::string> words;
      for (const std::int64_t number : Numbers(count)) words.push_back(absl::StrCat(number % 10));
      std::vector<std::string> expected(words.size());
      std::vector<std::string> scanned(words.size());
      std::inclusive_scan(words.begin(), words.end(), expected.begin(), join);
      EXPECT_EQ(
          ParallelInclusiveScan(pool_, words.begin(), words.end(), scanned.begin(), join, options),
          absl::OkStatus());
      EXPECT_EQ(scanned, expected);
      std::exclusive_scan(words.begin(), words.end(), expected.begin(), std::string("!"), join);
      // In place.
      EXPECT_EQ(ParallelExclusiveScan(pool_, words.begin(), words.end(), words.begin(),
                                      std::string("!"), join, options),
                absl::OkStatus());
      EXPECT_EQ(words, expected);
    }
  });
}

TEST_P(ParallelTest, ScanOfManyNumbers) {
  const std::vector<std::int64_t> numbers = Numbers(200'000);
  std::vector<std::int64_t> expected(numbers.size());
  std::vector<std::int64_t> scanned(numbers.size());
  std::inclusive_scan(numbers.begin(), numbers.end(), expected.begin());
  EXPECT_EQ(
      ParallelInclusiveScan(pool_, numbers.begin(), numbers.end(), scanned.begin(), std::plus<>()),
      absl::OkStatus());
  EXPECT_EQ(scanned, expected);
}

TEST_P(ParallelTest, FindGivesTheFirstMatch) {
  Everywhere([&](const ParallelOptions& options) {
    for (const int first : {0, 1, 63, 4999, 9999, 10'000}) {
      const absl::StatusOr<int> found = ParallelFind(
          pool_, 0, 10'000, [&](int i) { return i >= first && (i - first) % 3 == 0; }, options);
      EXPECT_EQ(found.value(), first);
    }
  });
}

TEST_P(ParallelTest, FindGivesAnIterator) {
  const std::vector<std::int64_t> numbers = Numbers(5000);
  const auto is_ten = [](std::int64_t number) { return number == 10; };
  const auto found = ParallelFind(pool_, numbers.begin(), numbers.end(), is_ten);
  EXPECT_EQ(found.value(), std::find_if(numbers.begin(), numbers.end(), is_ten));
}

// With fixed chunks of one, what is asked after the match was seen is one item a worker.
TEST_P(ParallelTest, FindStopsEarly) {
  std::atomic<std::int64_t> asked{0};
  const absl::StatusOr<std::int64_t> found =
      ParallelFind(pool_, std::int64_t{0}, std::int64_t{1} << 40,
                   [&](std::int64_t i) {
                     ++asked;
                     return i == 0;
                   },
                   {.chunk = 1});
  EXPECT_EQ(found.value(), 0);
  EXPECT_LT(asked.load(), std::int64_t{1} << 30);
}

TEST_P(ParallelTest, MapKeepsTheOrder) {
  Everywhere([&](const ParallelOptions& options) {
    const auto squares = ParallelMap(
        pool_, 0, 2000, [](int i) { return i * i; }, options);
    ASSERT_EQ(squares->size(), 2000U);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ((*squares)[static_cast<std::size_t>(i)], i * i);
  });
}

// Workers that write neighbouring bits of one byte would lose some.
TEST_P(ParallelTest, MapToBool) {
  const auto odd = ParallelMap(pool_, 0, 10'000, [](int i) { return i % 2 == 1; }, {.chunk = 1});
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ((*odd)[static_cast<std::size_t>(i)], i % 2 == 1);
}

TEST_P(ParallelTest, MapOfFallibleCalls) {
  const auto half = [](int i) -> absl::StatusOr<std::unique_ptr<int>> {
    if (i == 70) return absl::NotFoundError("70");
    return std::make_unique<int>(i / 2);
  };
  EXPECT_EQ(*ParallelMap(pool_, 0, 70, half)->back(), 34);
  EXPECT_EQ(ParallelMap(pool_, 0, 100, half).status(), absl::NotFoundError("70"));
}

TEST_P(ParallelTest, AllCallsEveryFunction) {
  std::vector<std::function<int()>> functions;
  for (int i = 0; i < 10; ++i) functions.emplace_back([i] { return i; });
  EXPECT_EQ(ParallelAll(pool_, functions).value(),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_P(ParallelTest, BothGivesAPair) {
  const auto both = ParallelBoth(
      pool_, [] { return 1; }, []() -> absl::StatusOr<std::string> { return "two"; });
  EXPECT_EQ(both.value(), std::make_pair(1, std::string("two")));
  const auto failed = ParallelBoth(
      pool_, [] { return 1; }, []() -> absl::StatusOr<int> { return absl::NotFoundError("g"); });
  EXPECT_EQ(failed.status(), absl::NotFoundError("g"));
}

TEST_P(ParallelTest, TheFirstErrorStopsTheLoop) {
  std::atomic<std::int64_t> ran{0};
  const absl::Status status =
      ParallelFor(pool_, std::int64_t{0}, std::int64_t{1} << 40,
                  [&](std::int64_t i) -> absl::Status {
                    ++ran;
                    return i == 5 ? absl::NotFoundError("five") : absl::OkStatus();
                  },
                  {.chunk = 1});
  EXPECT_EQ(status, absl::NotFoundError("five"));
  EXPECT_LT(ran.load(), std::int64_t{1} << 30);
}

TEST_P(ParallelTest, ExceptionsBecomeUnknown) {
  const auto boom = [](int i) {
    if (i == 77) throw std::runtime_error("boom");
    return i;
  };
  Everywhere([&](const ParallelOptions& options) {
    const absl::Status expected = absl::UnknownError("boom");
    EXPECT_EQ(ParallelFor(pool_, 0, 100, boom, options), expected);
    EXPECT_EQ(ParallelMap(pool_, 0, 100, boom, options).status(), expected);
    EXPECT_EQ(ParallelReduce(pool_, 0, 100, 0, boom, std::plus<>(), options).status(), expected);
    EXPECT_EQ(ParallelFind(
                  pool_, 0, 100, [&](int i) { return boom(i) < 0; }, options)
                  .status(),
              expected);
  });
}

TEST_P(ParallelTest, ExceptionsWhileCombining) {
  const auto boom = [](int a, int b) {
    if (b > 50) throw std::runtime_error("combine");
    return a + b;
  };
  Everywhere([&](const ParallelOptions& options) {
    const absl::Status expected = absl::UnknownError("combine");
    EXPECT_EQ(ParallelReduce(pool_, 0, 100, 0, std::identity(), boom, options).status(), expected);
    std::vector<int> numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0);
    EXPECT_EQ(ParallelInclusiveScan(pool_, numbers.begin(), numbers.end(), numbers.begin(), boom,
                                    options),
              expected);
  });
}

// D 42, seed flaw 22: the half that threw left the other writing to an array that was gone.
TEST_P(ParallelTest, NobodyWritesToTheCallersArrayAfterAThrow) {
  for (int round = 0; round < 200; ++round) {
    auto array = std::make_unique<std::vector<int>>(256, 0);
    const absl::Status status = ParallelFor(
        pool_, 0, 256,
        [&](int i) {
          if (i >= 128) throw std::runtime_error("right");
          for (int k = 0; k < 1000; ++k) {
            auto* cell = const_cast<volatile int*>(&(*array)[static_cast<std::size_t>(i)]);
            *cell = *cell + 1;
          }
        },
        {.chunk = 1});
    array.reset();  // AddressSanitizer sees who still writes.
    EXPECT_EQ(status, absl::UnknownError("right"));
  }
}

TEST_P(ParallelTest, OnAPoolThatIsGoneIsRefused) {
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  const absl::Status status = ParallelFor(pool_, 0, 10, [](int) {});
  if (GetParam() == 0) {
    EXPECT_EQ(status, absl::OkStatus());  // All on the caller.
  } else {
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
}

}  // namespace
}  // namespace jackdaw
