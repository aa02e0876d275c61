// A pool that is shut down at a random point under thousands of coroutines that are queued,
// running, or suspended on promises, on timers and on each other (D 44, D 46). Method: every
// future must resolve, every frame must be destroyed once (each owns a counted object, and
// AddressSanitizer sees the memory), and nothing may hang.
//
// Does not see: orderings that this machine does not show; the model of the future does.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

constexpr int kCoroutines = 3000;

class Counted {
 public:
  explicit Counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

CoTask<int> Inner(Counted counted, Future<int> gate) {
  const Counted local = counted;
  const absl::StatusOr<int>& value = co_await gate;
  if (!value.ok()) co_return value.status();
  co_await Yield();
  co_return *value + 1;
}

CoTask<int> Outer(Counted counted, Future<int> gate, TimerQueue& timers, bool pause) {
  if (pause) {
    const Future<void> delay = Delay(timers, absl::Milliseconds(1));
    const absl::Status status = co_await delay;
    if (!status.ok()) co_return status;
  }
  CoTask<int> inner = Inner(counted, gate);
  const absl::StatusOr<int> value = co_await inner;
  if (!value.ok()) co_return value.status();
  co_return *value;
}

class ShutdownAtRandomTest : public ::testing::TestWithParam<std::tuple<int, ShutdownMode>> {
 protected:
  // One round: a pool, coroutines in chains of ten, and a shutdown after `delay` fulfilments.
  void Round(std::uint64_t seed) {
    Random random(seed);
    std::atomic<int> alive{0};
    std::vector<Future<int>> futures;
    {
      FakeClock clock;
      // It outlives whatever may still resume coroutines on it: the timers and the gates.
      WorkStealingPool pool({.name = "test", .workers = std::get<0>(GetParam())});
      TimerQueue timers(&clock, TimerQueue::Drive::kManual);
      std::vector<Promise<int>> gates(kCoroutines / 10);
      for (int i = 0; i < kCoroutines; ++i) {
        const Future<int> before =
            i % 10 == 0 ? gates[static_cast<std::size_t>(i / 10)].future() : futures.back();
        const bool pause = random.Below(4) == 0;
        futures.push_back(Spawn(pool, Outer(Counted(alive), before, timers, pause)));
      }
      const std::uint64_t opened = random.Below(gates.size());
      std::thread opener([&] {
        for (std::size_t i = 0; i < opened; ++i) gates[i].Fulfil(0);
        clock.Advance(absl::Milliseconds(1));
        timers.RunDue();
      });
      for (std::uint64_t turns = random.Below(1000); turns > 0; --turns) {
        if (pool.size() == 0) pool.RunOne();
      }
      pool.ShutdownAndWait(std::get<1>(GetParam()));
      opener.join();
      for (std::size_t i = opened; i < gates.size(); ++i) {
        if (random.Below(2) == 0) gates[i].Fulfil(0);
      }
      // The gates that were left break, the timers that are pending die with their queue.
    }
    for (const Future<int>& future : futures) {
      const absl::StatusOr<int>& result = future.Wait();
      EXPECT_TRUE(result.ok() || absl::IsUnavailable(result.status()) ||
                  absl::IsCancelled(result.status()) || absl::IsAborted(result.status()))
          << result.status();
    }
    EXPECT_EQ(alive.load(), 0);
  }
};

TEST_P(ShutdownAtRandomTest, EveryFutureResolvesAndEveryFrameDies) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Round(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Pools, ShutdownAtRandomTest,
                         ::testing::Combine(::testing::Values(0, 1, 2, 8),
                                            ::testing::Values(ShutdownMode::kDrain,
                                                              ShutdownMode::kCancel)));

// What a draining pool has accepted runs to its end, and so does what that spawns.
TEST(ShutdownWhileSpawningTest, DrainRunsWhatItsTasksSpawn) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    std::optional<WorkStealingPool> pool;
    pool.emplace(WorkStealingPool::Options{.name = "test", .workers = 2});
    struct Tree {
      static CoTask<int> Grow(Runner& runner, std::atomic<int>& count, int depth) {
        ++count;
        if (depth == 0) co_return 1;
        CoTask<int> task = Grow(runner, count, depth - 1);
        Future<int> spawned = Spawn(runner, std::move(task));
        CoTask<int> child = Grow(runner, count, depth - 1);
        const absl::StatusOr<int> here = co_await child;
        const absl::StatusOr<int>& there = co_await spawned;
        if (!there.ok()) co_return there.status();
        co_return *here + *there;
      }
    };
    const Future<int> root = Spawn(*pool, Tree::Grow(*pool, ran, 9));
    pool->ShutdownAndWait(ShutdownMode::kDrain);
    ASSERT_TRUE(root.is_ready());
    EXPECT_EQ(root.Wait().value(), 512);
    EXPECT_EQ(ran.load(), 1023);
  }
}

}  // namespace
}  // namespace jackdaw
