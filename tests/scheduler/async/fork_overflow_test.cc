// A deque that overflows while forks are open: the older half of what it held goes to the
// injector, forks too. A join still finds its fork, runs nothing else, and never sleeps while
// its fork lies there with nobody to come for it.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/fork_join.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

constexpr int kBeyondTheDeque = 70'000;  // More than the 64K tasks that a deque holds.

enum class Order { kNewestFirst, kOldestFirst };

using AForkOf = Forked<std::function<void()>>;
using Forks = std::vector<std::unique_ptr<AForkOf>>;

void JoinAll(Forks& forks, Order order) {
  if (order == Order::kNewestFirst) {
    while (!forks.empty()) {
      EXPECT_EQ(forks.back()->Join(), absl::OkStatus());
      forks.pop_back();
    }
    return;
  }
  for (std::unique_ptr<AForkOf>& fork : forks) EXPECT_EQ(fork->Join(), absl::OkStatus());
}

class ForkOverflowTest : public ::testing::TestWithParam<std::tuple<int, Order>> {
 protected:
  [[nodiscard]] static Order order() { return std::get<1>(GetParam()); }
  WorkStealingPool pool_{{.name = "test", .workers = std::get<0>(GetParam())}};
};
INSTANTIATE_TEST_SUITE_P(Workers, ForkOverflowTest,
                         ::testing::Combine(::testing::Values(0, 1, 2, 8),
                                            ::testing::Values(Order::kNewestFirst,
                                                              Order::kOldestFirst)));

TEST_P(ForkOverflowTest, SeventyThousandOpenForks) {
  std::atomic<int> ran{0};
  const Future<void> done = Spawn(pool_, [&] {
    Forks forks;
    for (int i = 0; i < kBeyondTheDeque; ++i) {
      forks.push_back(std::make_unique<AForkOf>([&ran] { ++ran; }));
    }
    JoinAll(forks, order());
  });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  EXPECT_EQ(ran.load(), kBeyondTheDeque);
}

// The forks are the oldest, so it is they that an overflow gives away.
TEST_P(ForkOverflowTest, ForksUnderMoreTasksThanADequeHolds) {
  std::atomic<int> forks_ran{0};
  std::atomic<int> others_ran{0};
  const int forked = kMaxForksPerThread / 4;
  const Future<void> done = Spawn(pool_, [&] {
    Forks forks;
    for (int i = 0; i < forked; ++i) {
      forks.push_back(std::make_unique<AForkOf>([&forks_ran] { ++forks_ran; }));
    }
    for (int i = 0; i < kBeyondTheDeque; ++i) {
      EXPECT_EQ(pool_.Run([&others_ran] { ++others_ran; }), absl::OkStatus());
    }
    if (pool_.size() < 2) {
      EXPECT_GT(pool_.stats().injector_depth, forked);
    }
    JoinAll(forks, order());
    EXPECT_EQ(forks_ran.load(), forked);
    if (pool_.size() < 2) {
      EXPECT_EQ(others_ran.load(), 0);  // A join runs no other work.
    }
  });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(others_ran.load(), kBeyondTheDeque);
  EXPECT_EQ(pool_.task_count(), 0);
}

// Every worker makes its own deque overflow, inside forks of one another: each takes batches
// from the injector in which the others' forks lie.
TEST_P(ForkOverflowTest, AllWorkersOverflowAtOnce) {
  constexpr int kBodies = 4;
  std::atomic<int> forks_ran{0};
  std::atomic<int> others_ran{0};
  const auto body = [&] {
    Forks forks;
    for (int i = 0; i < 100; ++i) {
      forks.push_back(std::make_unique<AForkOf>([&forks_ran] { ++forks_ran; }));
    }
    for (int i = 0; i < kBeyondTheDeque; ++i) {
      EXPECT_EQ(pool_.Run([&others_ran] { ++others_ran; }), absl::OkStatus());
    }
    JoinAll(forks, order());
  };
  const Future<void> done = Spawn(pool_, [&] { return Invoke(body, body, body, body); });
  EXPECT_EQ(Settle(pool_, done), absl::OkStatus());
  pool_.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(forks_ran.load(), kBodies * 100);
  EXPECT_EQ(others_ran.load(), kBodies * kBeyondTheDeque);
}

}  // namespace
}  // namespace jackdaw
