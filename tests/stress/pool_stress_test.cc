// The pool under load for some seconds, with an oracle: every task runs exactly once, and the
// counters say so. Oversubscribed, so that threads are preempted in the middle of everything.
//
// Sees: loss, duplication and hangs in the real pool, with real sizes. Does not see: the
// orders that this machine's memory never takes (tests/model).

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// Marks each number once.
class Oracle {
 public:
  explicit Oracle(std::size_t size) : marks_(size) {}
  void Mark(std::size_t number) {
    if (marks_[number].fetch_add(1) != 0) ADD_FAILURE() << "task " << number << " ran twice";
    marked_.fetch_add(1);
  }
  [[nodiscard]] std::size_t marked() const { return marked_.load(); }
  [[nodiscard]] bool Complete() const { return marked() == marks_.size(); }

 private:
  std::vector<std::atomic<std::uint8_t>> marks_;
  std::atomic<std::size_t> marked_{0};
};

class PoolStressTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, PoolStressTest, testing::Values(1, 2, 8), WorkerCountName);

// A task owns the numbers [first, last): it marks the first and splits the rest at a random
// place, one part for its own deque and one through Submit().
void Split(WorkStealingPool& pool, Oracle& oracle, std::size_t first, std::size_t last,
           std::uint64_t seed) {
  oracle.Mark(first);
  const std::size_t rest = last - first - 1;
  if (rest == 0) return;
  Random random(seed);
  const std::size_t middle = first + 1 + random.Below(rest);
  const auto spawn = [&](std::size_t from, std::size_t to) {
    if (from == to) return;
    Spawn(
        [&pool, &oracle, from, to, next = random.Next()] { Split(pool, oracle, from, to, next); });
  };
  spawn(first + 1, middle);
  spawn(middle, last);
}

TEST_P(PoolStressTest, RandomTreesFromFourSubmittersRunEachTaskOnce) {
  constexpr std::size_t kEach = 150'000;
  constexpr std::size_t kTree = 300;
  WorkStealingPool pool(Options());
  Oracle oracle(4 * kEach);
  std::vector<std::thread> submitters;
  for (std::size_t s = 0; s < 4; ++s) {
    submitters.emplace_back([&, s] {
      for (std::size_t first = s * kEach; first < (s + 1) * kEach; first += kTree) {
        Go(pool, [&, first] { Split(pool, oracle, first, first + kTree, first); });
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  RunUntil(pool, [&] { return oracle.Complete(); });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).tasks, 4 * static_cast<std::int64_t>(kEach));
  ExpectExactCounters(pool);
}

// golang#45867: work and a parked worker, for ever. Each burst is as wide as the pool and
// each of its tasks blocks until all run, so that a single missed wake-up hangs the test.
TEST_P(PoolStressTest, BurstsAsWideAsThePoolAlwaysOccupyItWhole) {
  WorkStealingPool pool(Options());
  const int width = pool.size();
  for (int burst = 0; burst < 3000; ++burst) {
    std::atomic<int> running{0};
    std::atomic<int> finished{0};
    const auto body = [&] {
      running.fetch_add(1);
      while (running.load() < width) sched_yield();
      finished.fetch_add(1);
    };
    if (burst % 2 == 0) {
      for (int i = 0; i < width; ++i) Go(pool, body);
    } else {
      Go(pool, [&] {
        for (int i = 1; i < width; ++i) Spawn(body);
        body();
      });
    }
    RunUntil(pool, [&] { return finished.load() == width; });
    if (burst % 3 == 0) AwaitParked(pool);
  }
}

TEST_P(PoolStressTest, ShutdownAtAnyMomentRunsWhatWasAccepted) {
  for (int round = 0; round < 40; ++round) {
    WorkStealingPool pool(Options());
    std::atomic<std::int64_t> accepted{0};
    std::atomic<std::int64_t> ran{0};
    std::vector<std::thread> submitters;
    for (int s = 0; s < 2; ++s) {
      submitters.emplace_back([&] {
        while (pool.Run([&] {
                     ran.fetch_add(1);
                     for (int i = 0; i < 3; ++i) Spawn([&] { ran.fetch_add(1); });
                   })
                   .ok()) {
          accepted.fetch_add(4);
        }
      });
    }
    RunUntil(pool, [&] { return ran.load() > round * 10; });
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    for (std::thread& submitter : submitters) submitter.join();
    ASSERT_EQ(ran.load(), accepted.load());
    ExpectExactCounters(pool);
  }
}

}  // namespace
}  // namespace jackdaw
