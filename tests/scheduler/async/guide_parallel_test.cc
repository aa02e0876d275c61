// The samples of the user guide about parallel algorithms, forks and pipelines; quoted there as
// those of guide_sync_test.cc are.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fork_first.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/parallel_find.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/parallel_map.h"
#include "scheduler/async/parallel_reduce.h"
#include "scheduler/async/parallel_scan.h"
#include "scheduler/async/pipeline.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

TEST(GuideParallelTest, Loop) {
  // sample: loop
  WorkStealingPool pool({.name = "compute", .workers = 2});
  std::vector<double> roots(1000);
  const absl::Status status =
      ParallelFor(pool, 0, 1000, [&](int i) { roots[static_cast<std::size_t>(i)] = std::sqrt(i); });
  // end of sample

  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(roots[81], 9.0);
}

TEST(GuideParallelTest, LoopOverFewExpensiveItems) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: loop-over-few
  std::vector<std::string> pages = {"b", "a", "c"};

  const absl::Status status = ParallelFor(pool, pages.begin(), pages.end(),
                                          [](std::string& page) -> absl::Status {
                                            if (page.empty())
                                              return absl::InvalidArgumentError("an empty page");
                                            page = absl::StrCat("<p>", page, "</p>");
                                            return absl::OkStatus();
                                          },
                                          {.chunk = 1});

  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(pages[0], "<p>b</p>");
  // end of sample
}

TEST(GuideParallelTest, ReduceScanFind) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: reduce-scan-find
  std::vector<int> numbers = {3, 1, 4, 1, 5};

  const absl::StatusOr<int> sum =
      ParallelReduce(pool, numbers.begin(), numbers.end(), 0, std::identity(), std::plus<>());
  const auto four =
      ParallelFind(pool, numbers.begin(), numbers.end(), [](int number) { return number == 4; });
  EXPECT_EQ(sum.value(), 14);
  EXPECT_EQ(*four - numbers.begin(), 2);

  const absl::Status scanned =
      ParallelInclusiveScan(pool, numbers.begin(), numbers.end(), numbers.begin(), std::plus<>());
  EXPECT_EQ(scanned, absl::OkStatus());
  EXPECT_EQ(numbers, (std::vector<int>{3, 4, 8, 9, 14}));
  // end of sample
}

TEST(GuideParallelTest, MapAndBoth) {
  WorkStealingPool pool({.name = "compute", .workers = 2});

  // sample: map
  const absl::StatusOr<std::vector<std::string>> names =
      ParallelMap(pool, 0, 3, [](int i) { return absl::StrCat("file", i); });
  EXPECT_EQ(names.value(), (std::vector<std::string>{"file0", "file1", "file2"}));

  const auto both = ParallelBoth(
      pool, [] { return 42; }, [] { return std::string("text"); });
  EXPECT_EQ(both->first, 42);
  EXPECT_EQ(both->second, "text");
  // end of sample
}

// Divide and conquer by hand.
// sample: fork-join
std::int64_t Fib(int n) {
  if (n < 2) return n;
  std::int64_t left = 0;
  std::int64_t right = 0;
  ForkJoin([&] { left = Fib(n - 1); }, [&] { right = Fib(n - 2); }).IgnoreError();
  return left + right;
}
// end of sample

TEST(GuideParallelTest, ForkJoin) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: invoke-on
  std::int64_t result = 0;
  EXPECT_EQ(InvokeOn(pool, [&] { result = Fib(20); }), absl::OkStatus());
  EXPECT_EQ(result, 6765);
  // end of sample
}

// The same as a coroutine, work first: the child runs now, and an idle worker may go on with
// the rest of this coroutine meanwhile.
// sample: fork-first
CoTask<std::int64_t> CoFib(int n) {
  if (n < 2) co_return n;
  CoTask<std::int64_t> child = CoFib(n - 1);
  Future<std::int64_t> left;
  co_await ForkFirst(child, left);

  CoTask<std::int64_t> right = CoFib(n - 2);
  const absl::StatusOr<std::int64_t> right_value = co_await right;
  const absl::StatusOr<std::int64_t>& left_value = co_await left;  // Joined whatever happened.
  if (!left_value.ok()) co_return left_value.status();
  if (!right_value.ok()) co_return right_value.status();
  co_return *left_value + *right_value;
}
// end of sample

TEST(GuideParallelTest, ForkFirst) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  const Future<std::int64_t> result = Spawn(pool, CoFib(20));
  EXPECT_EQ(result.Wait().value(), 6765);
}

TEST(GuideParallelTest, Pipeline) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: pipeline
  std::istringstream input("one\ntwo\nthree\n");
  std::ostringstream output;

  const absl::Status status = RunPipeline(
      pool,
      [&]() -> std::optional<std::string> {
        std::string line;
        if (!std::getline(input, line)) return std::nullopt;
        return line;
      },
      [](std::string line) { return absl::AsciiStrToUpper(line); },
      [&](std::string line) { output << line << "\n"; },
      {.order = PipelineOrder::kKept, .chunk = 2, .window = 8});

  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(output.str(), "ONE\nTWO\nTHREE\n");
  // end of sample
}

}  // namespace
}  // namespace jackdaw
