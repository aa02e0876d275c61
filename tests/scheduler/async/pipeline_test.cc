// Pipelines at 0, 1, 2 and 8 workers: nothing lost, nothing twice, in order, within the window.

#include "scheduler/async/pipeline.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

using PipelineTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, PipelineTest, ::testing::Values(0, 1, 2, 8));

// Reads 0 to count - 1.
auto Counting(int count) {
  return [next = 0, count]() mutable -> std::optional<int> {
    return next < count ? std::optional<int>(next++) : std::nullopt;
  };
}

TEST_P(PipelineTest, WritesInTheOrderOfReading) {
  for (const int chunk : {1, 3, 64}) {
    for (const int window : {0, 1, 2}) {
      SCOPED_TRACE(absl::StrCat("chunk ", chunk, ", window ", window));
      std::vector<std::string> written;
      const absl::Status status = RunPipeline(
          pool_, Counting(1000), [](int i) { return absl::StrCat("n", i); },
          [&](std::string text) { written.push_back(std::move(text)); },
          {.chunk = chunk, .window = window});
      EXPECT_EQ(status, absl::OkStatus());
      ASSERT_EQ(written.size(), 1000U);
      for (std::size_t i = 0; i < written.size(); ++i) ASSERT_EQ(written[i], absl::StrCat("n", i));
    }
  }
}

TEST_P(PipelineTest, InAnyOrderNothingIsLostOrDoubled) {
  std::vector<int> written;
  EXPECT_EQ(RunPipeline(
                pool_, Counting(5000), [](int i) { return i; },
                [&](int i) { written.push_back(i); }, {.order = PipelineOrder::kAny, .chunk = 7}),
            absl::OkStatus());
  std::sort(written.begin(), written.end());
  ASSERT_EQ(written.size(), 5000U);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(written[static_cast<std::size_t>(i)], i);
}

TEST_P(PipelineTest, OfNothing) {
  EXPECT_EQ(RunPipeline(
                pool_, Counting(0), [](int i) { return i; }, [](int) { ADD_FAILURE(); }),
            absl::OkStatus());
}

TEST_P(PipelineTest, CarriesWhatCannotBeCopied) {
  int sum = 0;
  auto read = [next = 0]() mutable -> std::optional<std::unique_ptr<int>> {
    return next < 100 ? std::make_optional(std::make_unique<int>(next++)) : std::nullopt;
  };
  EXPECT_EQ(RunPipeline(
                pool_, std::move(read), [](std::unique_ptr<int> i) { return i; },
                [&](std::unique_ptr<int> i) { sum += *i; }),
            absl::OkStatus());
  EXPECT_EQ(sum, 4950);
}

// Back-pressure: what is read and not yet written fits the window, however slow the work.
TEST_P(PipelineTest, ReadsNoFurtherAheadThanTheWindow) {
  constexpr int kWindow = 3;
  constexpr int kChunk = 4;
  std::atomic<int> read{0};
  std::atomic<int> written{0};
  std::atomic<int> furthest{0};
  auto counting = Counting(500);
  const absl::Status status = RunPipeline(
      pool_,
      [&] {
        const std::optional<int> item = counting();
        if (item.has_value()) {
          const int ahead = ++read - written.load();
          furthest.store(std::max(furthest.load(), ahead));  // One reader at a time.
        }
        return item;
      },
      [](int i) {
        volatile int turns = 1000 * (i % 3);
        while (turns > 0) turns = turns - 1;
        return i;
      },
      [&](int) { ++written; }, {.chunk = kChunk, .window = kWindow});
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(written.load(), 500);
  EXPECT_LE(furthest.load(), kWindow * kChunk);
}

// Parany's init and finalize: each lane is started once before its first item, is used by one
// thread at a time, and ends once.
TEST_P(PipelineTest, LanesStartAndEndOnce) {
  absl::Mutex mutex;
  std::set<int> started;
  std::vector<int> ended;
  std::vector<std::atomic<int>> inside(64);
  PipelineOptions options{.order = PipelineOrder::kAny, .window = 16};
  options.start_lane = [&](int lane) {
    absl::MutexLock lock(&mutex);
    EXPECT_TRUE(started.insert(lane).second);
    return absl::OkStatus();
  };
  options.end_lane = [&](int lane) { ended.push_back(lane); };
  const absl::Status status = RunPipeline(
      pool_, Counting(2000),
      [&](int i, int lane) {
        EXPECT_EQ(++inside[static_cast<std::size_t>(lane)], 1);
        --inside[static_cast<std::size_t>(lane)];
        return i;
      },
      [](int) {}, options);
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(ended, std::vector<int>(started.begin(), started.end()));
  EXPECT_GE(ended.size(), 1U);
  EXPECT_LE(static_cast<int>(ended.size()), std::max(1, GetParam()));
}

TEST_P(PipelineTest, AnErrorAnywhereEndsIt) {
  const absl::Status expected = absl::NotFoundError("x");
  int written = 0;
  const auto write = [&](int i) { EXPECT_EQ(i, written++); };
  EXPECT_EQ(RunPipeline(
                pool_,
                [next = 0]() mutable -> absl::StatusOr<std::optional<int>> {
                  if (next == 50) return absl::NotFoundError("x");
                  return next++;
                },
                [](int i) { return i; }, write),
            expected);
  EXPECT_LE(written, 50);
  written = 0;
  EXPECT_EQ(RunPipeline(
                pool_, Counting(1'000'000),
                [](int i) -> absl::StatusOr<int> {
                  if (i == 50) return absl::NotFoundError("x");
                  return i;
                },
                write),
            expected);
  EXPECT_LE(written, 50);
  written = 0;
  EXPECT_EQ(RunPipeline(
                pool_, Counting(1'000'000), [](int i) { return i; },
                [&](int i) -> absl::Status {
                  if (i == 50) throw std::runtime_error("disk full");
                  ++written;
                  return absl::OkStatus();
                }),
            absl::UnknownError("disk full"));
  EXPECT_EQ(written, 50);
}

TEST_P(PipelineTest, ALaneThatCannotStartEndsIt) {
  std::vector<int> ended;
  PipelineOptions options;
  options.start_lane = [](int) { return absl::UnavailableError("no connection"); };
  options.end_lane = [&](int lane) { ended.push_back(lane); };
  EXPECT_EQ(RunPipeline(
                pool_, Counting(100), [](int i) { return i; }, [](int) { ADD_FAILURE(); }, options),
            absl::UnavailableError("no connection"));
  EXPECT_TRUE(ended.empty());
}

TEST_P(PipelineTest, FromAWorkerByAwaiting) {
  std::int64_t sum = 0;
  const Future<void> done = Spawn(pool_, [&]() -> CoTask<absl::Status> {
    const Future<void> flow = StartPipeline(
        pool_, Counting(1000), [](int i) { return i; }, [&sum](int i) { sum += i; });
    const absl::Status& status = co_await flow;
    co_return status;
  });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  EXPECT_EQ(sum, 499'500);
}

TEST_P(PipelineTest, FromAWorkerByBlockingRunsThere) {
  std::int64_t sum = 0;
  const Future<void> done = Spawn(pool_, [&] {
    return RunPipeline(
        pool_, Counting(1000), [](int i) { return i; }, [&sum](int i) { sum += i; });
  });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  EXPECT_EQ(sum, 499'500);
}

TEST_P(PipelineTest, IsCancelledThroughItsFuture) {
  Promise<void> started;
  const Future<void> begun = started.future();
  const Future<void> done = StartPipeline(
      pool_,
      [&, next = 0]() mutable -> std::optional<int> {
        if (next == 10) started.Fulfil();
        return next++;  // Without end.
      },
      [](int i) { return i; }, [](int) {});
  if (GetParam() == 0) {
    while (!begun.is_ready()) pool_.RunOne();
  }
  EXPECT_EQ(begun.Wait(), absl::OkStatus());
  done.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(Settle(pool_, done)));
}

// Shut down in the middle: the future resolves, lanes that started end, nothing is written
// after.
TEST_P(PipelineTest, AShutdownInTheMiddleEndsIt) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> open_lanes{0};
    std::atomic<int> read{0};
    Future<void> done;
    {
      WorkStealingPool pool({.name = "test", .workers = GetParam()});
      PipelineOptions options;
      options.start_lane = [&](int) { return ++open_lanes, absl::OkStatus(); };
      options.end_lane = [&](int) { --open_lanes; };
      done = StartPipeline(
          pool, [&]() -> std::optional<int> { return ++read; }, [](int i) { return i; }, [](int) {},
          options);
      for (int i = 0; GetParam() == 0 && i < round; ++i) pool.RunOne();
      pool.ShutdownAndWait(ShutdownMode::kCancel);
    }
    ASSERT_TRUE(done.is_ready());
    EXPECT_TRUE(absl::IsCancelled(done.Wait())) << done.Wait();
    EXPECT_EQ(open_lanes.load(), 0);
  }
}

TEST_P(PipelineTest, OnAPoolThatIsGoneIsRefused) {
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  const Future<void> done = StartPipeline(
      pool_, Counting(1), [](int i) { return i; }, [](int) { ADD_FAILURE(); });
  EXPECT_TRUE(absl::IsUnavailable(done.Wait()));
}

}  // namespace
}  // namespace jackdaw
