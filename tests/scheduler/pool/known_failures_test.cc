// Failures that users of other pools met, as far as no other test here has them already; the
// page docs/scheduler-failures.md has them all.

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "scheduler/base/clock.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/victim_order.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// Moves by 100 nanoseconds at each look, so that the length of a search is a number of sweeps.
class StepClock final : public Clock {
 public:
  [[nodiscard]] absl::Time Now() const override { return absl::UnixEpoch(); }
  [[nodiscard]] std::int64_t MonotonicNanos() const override { return now_.fetch_add(100); }

 private:
  mutable std::atomic<std::int64_t> now_{0};
};

// rayon#1314: searchers burn a machine on which there is little to find. Here each search that
// found nothing makes the next one shorter, and after a few there is as good as none.
TEST(KnownPoolFailuresTest, AfterFruitlessSearchesWorkersSearchLess) {
  StepClock clock;
  WorkStealingPool pool({.workers = 1, .spin = absl::Microseconds(100), .clock = &clock});
  AwaitParked(pool);
  const std::int64_t first_search = Total(pool).idle_spins;
  EXPECT_GT(first_search, 100);
  std::int64_t last_search = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t before = Total(pool).idle_spins;
    Go(pool, [] {});
    RunUntil(pool, [&] { return pool.task_count() == 0; });
    AwaitParked(pool);
    last_search = Total(pool).idle_spins - before;
  }
  EXPECT_LT(last_search, first_search / 8);
}

// PhotonLibOS#1245: a victim that was passed over kept the sweep from going on, for ever. Here
// for every set of victims that have nothing to give.
TEST(KnownPoolFailuresTest, ASweepEndsWhicheverVictimsGiveNothing) {
  constexpr int kWorkers = 8;
  const std::vector<int> distances = {10, 10, 20, 20, 20, 40, 40, 40};
  VictimOrder order(0, distances);
  Random random(1);
  for (unsigned empty = 0; empty < (1u << kWorkers); ++empty) {
    std::set<int> visited;
    const bool stopped = order.Sweep(random, [&](int victim) {
      EXPECT_TRUE(visited.insert(victim).second) << victim << " was visited twice";
      return (empty >> victim & 1) == 0;
    });
    const bool all_empty = (empty | 1u) == (1u << kWorkers) - 1;  // But for the thief itself.
    ASSERT_EQ(stopped, !all_empty);
    ASSERT_TRUE(stopped || visited.size() == kWorkers - 1);
  }
}

}  // namespace
}  // namespace jackdaw
