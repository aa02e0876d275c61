// Parallel calls inside parallel calls, as random trees against a sequential reference; a
// million joins on small stacks; a pool that is shut down in the middle of a loop.
//
// Does not see: orderings that this machine does not show.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/parallel_find.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/parallel_map.h"
#include "scheduler/async/parallel_reduce.h"
#include "scheduler/async/parallel_scan.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

using ParallelStressTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, ParallelStressTest, ::testing::Values(0, 1, 2, 8));

// The value of a random tree. Each inner node asks its children by a parallel call of a random
// kind. Without a pool, one after another.
class RandomTree {
 public:
  explicit RandomTree(WorkStealingPool* pool) : pool_(pool) {}

  [[nodiscard]] std::int64_t Value(std::uint64_t seed, int depth) const {
    Random random(seed);
    const auto own = static_cast<std::int64_t>(random.Below(1000));
    if (depth == 0) return own;
    std::vector<std::uint64_t> children(random.Below(6));
    for (std::uint64_t& child : children) child = random.Next();
    const std::uint64_t kind = random.Below(6);
    const ParallelOptions options{.chunk = static_cast<std::int64_t>(random.Below(3))};
    return own + (pool_ == nullptr ? Plain(kind, children, depth)
                                   : Parallel(kind, children, depth, options));
  }

 private:
  [[nodiscard]] std::int64_t Plain(std::uint64_t kind, const std::vector<std::uint64_t>& children,
                                   int depth) const {
    std::int64_t sum = 0;
    std::int64_t sums = 0;  // Of all the partial sums.
    for (std::size_t i = 0; i < children.size(); ++i) {
      const std::int64_t value = Value(children[i], depth - 1);
      if (kind == 4 && value % 3 == 0) return static_cast<std::int64_t>(i);
      sums += sum += value;
    }
    if (kind == 4) return static_cast<std::int64_t>(children.size());
    return kind == 5 ? sums : sum;
  }

  [[nodiscard]] std::int64_t Parallel(std::uint64_t kind,
                                      const std::vector<std::uint64_t>& children, int depth,
                                      const ParallelOptions& options) const {
    const auto value_of = [&](std::uint64_t child) { return Value(child, depth - 1); };
    const auto begin = children.begin();
    const auto end = children.end();
    switch (kind) {
      case 0: {
        std::atomic<std::int64_t> sum{0};
        EXPECT_EQ(
            ParallelFor(
                *pool_, begin, end, [&](std::uint64_t child) { sum += value_of(child); }, options),
            absl::OkStatus());
        return sum;
      }
      case 1:
        return ParallelReduce(*pool_, begin, end, std::int64_t{0}, value_of, std::plus<>(), options)
            .value();
      case 2:
        return Halves(children, 0, children.size(), depth);
      case 3: {
        const auto values = ParallelMap(*pool_, begin, end, value_of, options).value();
        return std::accumulate(values.begin(), values.end(), std::int64_t{0});
      }
      case 4:
        return ParallelFind(
                   *pool_, begin, end,
                   [&](std::uint64_t child) { return value_of(child) % 3 == 0; }, options)
                   .value() -
               begin;
      default: {
        auto values = ParallelMap(*pool_, begin, end, value_of, options).value();
        EXPECT_EQ(ParallelInclusiveScan(*pool_, values.begin(), values.end(), values.begin(),
                                        std::plus<>(), {.chunk = 1}),
                  absl::OkStatus());
        return std::accumulate(values.begin(), values.end(), std::int64_t{0});
      }
    }
  }

  [[nodiscard]] std::int64_t Halves(const std::vector<std::uint64_t>& children, std::size_t begin,
                                    std::size_t end, int depth) const {
    if (begin == end) return 0;
    if (end - begin == 1) return Value(children[begin], depth - 1);
    const std::size_t middle = begin + (end - begin) / 2;
    std::int64_t left = 0;
    std::int64_t right = 0;
    EXPECT_EQ(Invoke([&] { left = Halves(children, begin, middle, depth); },
                     [&] { right = Halves(children, middle, end, depth); }),
              absl::OkStatus());
    return left + right;
  }

  WorkStealingPool* const pool_;
};

TEST_P(ParallelStressTest, RandomTreesOfParallelCalls) {
  const RandomTree plain(nullptr);
  const RandomTree parallel(&pool_);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const std::int64_t expected = plain.Value(seed, 6);
    EXPECT_EQ(parallel.Value(seed, 6), expected);  // From outside.
    const Future<std::int64_t> inside = Spawn(pool_, [&, seed] { return parallel.Value(seed, 6); });
    EXPECT_EQ(Settle(pool_, inside).value(), expected);
  }
}

// C 30: helping nested unrelated jobs, 600 frames deep. A million joins of uneven work, on
// workers with stacks of 256 KiB (four times that where a sanitizer widens the frames).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStack = 1024 * 1024;
#else
constexpr std::size_t kStack = 256 * 1024;
#endif

int WithASmallStack(pthread_t* thread, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  const int error = pthread_create(thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

std::int64_t Joins(int levels, std::uint64_t seed) {
  if (levels == 0) return 0;
  Random random(seed);
  const std::uint64_t left_seed = random.Next();
  const std::uint64_t right_seed = random.Next();
  volatile std::uint64_t work = random.Below(64);
  while (work > 0) work = work - 1;
  std::int64_t left = 0;
  std::int64_t right = 0;
  EXPECT_EQ(ForkJoin([&] { left = Joins(levels - 1, left_seed); },
                     [&] { right = Joins(levels - 1, right_seed); }),
            absl::OkStatus());
  return left + right + 1;
}

TEST(NestedJoinsTest, AMillionOnSmallStacks) {
  for (const int workers : {1, 2, 8}) {
    WorkStealingPool pool({.name = "test", .workers = workers, .create_thread = &WithASmallStack});
    std::int64_t joins = 0;
    EXPECT_EQ(InvokeOn(pool, [&] { joins = Joins(20, 1); }), absl::OkStatus());
    EXPECT_EQ(joins, (1 << 20) - 1);
  }
}

// The same for loops in loops: log2(n) frames each.
TEST(NestedJoinsTest, LoopsInLoopsOnSmallStacks) {
  WorkStealingPool pool({.name = "test", .workers = 8, .create_thread = &WithASmallStack});
  std::atomic<std::int64_t> visits{0};
  const ParallelOptions each{.chunk = 1};
  EXPECT_EQ(ParallelFor(
                pool, 0, 200,
                [&](int) {
                  return ParallelFor(
                      pool, 0, 200,
                      [&](int) {
                        return ParallelFor(
                            pool, 0, 10, [&](int) { ++visits; }, each);
                      },
                      each);
                },
                each),
            absl::OkStatus());
  EXPECT_EQ(visits.load(), 200 * 200 * 10);
}

// C 33: who waits outside runs nothing, neither of the loop nor of others.
TEST(ParallelIsolationTest, AnOutsideCallerRunsNothing) {
  WorkStealingPool pool({.name = "test", .workers = 2});
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> on_caller{0};
  std::vector<Future<void>> others;
  for (int i = 0; i < 100; ++i) {
    others.push_back(Spawn(pool, [&] { on_caller += std::this_thread::get_id() == caller; }));
  }
  EXPECT_EQ(
      ParallelFor(pool, 0, 1000, [&](int) { on_caller += std::this_thread::get_id() == caller; }),
      absl::OkStatus());
  for (const Future<void>& other : others) EXPECT_EQ(other.Wait(), absl::OkStatus());
  EXPECT_EQ(on_caller.load(), 0);
}

// C 32: a loop on a worker runs its own items only, whatever else waits in the same deque.
TEST(ParallelIsolationTest, ALoopRunsNoOtherWork) {
  WorkStealingPool pool({.name = "test", .workers = 1});
  int others = 0;
  int others_before_end = -1;
  const Future<void> done = Spawn(pool, [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(pool.Run([&] { ++others; }), absl::OkStatus());
    }
    const absl::Status status = ParallelFor(pool, 0, 1000, [](int) {}, {.chunk = 1});
    others_before_end = others;
    return status;
  });
  EXPECT_EQ(done.Wait(), absl::OkStatus());
  EXPECT_EQ(others_before_end, 0);
}

// D 43, D 44: the call returns, with an honest status, and no body runs after it.
TEST_P(ParallelStressTest, AShutdownInTheMiddleOfALoop) {
  for (int round = 0; round < 100; ++round) {
    WorkStealingPool pool({.name = "test", .workers = GetParam()});
    std::atomic<bool> returned{false};
    std::atomic<std::int64_t> ran{0};
    absl::Notification begun;
    absl::Status status;
    std::thread caller([&] {
      status = ParallelFor(pool, 0, 3000,
                           [&](int i) {
                             EXPECT_FALSE(returned.load());
                             if (i == 10 * round) begun.Notify();
                             ++ran;
                           },
                           {.chunk = 1});
      returned = true;
    });
    begun.WaitForNotification();
    pool.ShutdownAndWait(round % 2 == 0 ? ShutdownMode::kCancel : ShutdownMode::kDrain);
    caller.join();
    if (status.ok()) {
      EXPECT_EQ(ran.load(), 3000);
    } else {
      EXPECT_TRUE(absl::IsCancelled(status)) << status;
      EXPECT_EQ(round % 2, 0);
    }
  }
}

}  // namespace
}  // namespace jackdaw
