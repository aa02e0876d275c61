// What an idle pool costs and when it wakes, by counts and not by the clock: the context
// switches of its threads, their sweeps, parks and wake-ups.

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

// A pool of 8 whose threads are known to the system by their numbers.
class IdlePool {
 public:
  IdlePool()
      : pool_({.workers = 8, .on_thread_start = [this](int) {
                 absl::MutexLock lock(&mutex_);
                 threads_.push_back(static_cast<int>(syscall(SYS_gettid)));
               }}) {}
  WorkStealingPool& pool() { return pool_; }

  // All that a thread cannot do without being counted: it gave up its CPU, or lost it.
  std::map<int, std::int64_t> ContextSwitches() {
    absl::MutexLock lock(&mutex_);
    std::map<int, std::int64_t> switches;
    for (int thread : threads_) {
      std::ifstream status(absl::StrCat("/proc/self/task/", thread, "/status"));
      for (std::string line; std::getline(status, line);) {
        std::int64_t count;
        if (absl::StrContains(line, "ctxt_switches") &&
            absl::SimpleAtoi(line.substr(line.find(':') + 1), &count)) {
          switches[thread] += count;
        }
      }
    }
    return switches;
  }

 private:
  absl::Mutex mutex_;
  std::vector<int> threads_;
  WorkStealingPool pool_;
};

// Something that takes a while on this thread, some hundred milliseconds, without any
// clock: enough for a thread that spins or wakes periodically to be seen.
void WorkAlone() {
  std::uint64_t x = 1;
  for (int i = 0; i < 50'000'000; ++i) asm volatile("" : "+r"(x));
}

// After the last worker announced itself it still has to fall asleep.
void AwaitAsleep(IdlePool& idle, int parked) {
  RunUntil(idle.pool(),
           [&] { return Total(idle.pool()).parks - Total(idle.pool()).wakeups == parked; });
  WorkAlone();
}

void ExpectSilence(IdlePool& idle) {
  const WorkerStats before = Total(idle.pool());
  const std::map<int, std::int64_t> switches = idle.ContextSwitches();
  ASSERT_EQ(switches.size(), 8u);
  WorkAlone();
  EXPECT_EQ(idle.ContextSwitches(), switches);
  const WorkerStats after = Total(idle.pool());
  EXPECT_EQ(after.idle_spins, before.idle_spins);
  EXPECT_EQ(after.parks, before.parks);
  EXPECT_EQ(after.wakeups, before.wakeups);
}

// silk#124: no periodic timed parks. stdexec#1475: nor any spinning after construction.
TEST(PoolIdleTest, ParkedPoolDoesNothingAtAll) {
  IdlePool idle;
  AwaitAsleep(idle, 8);
  ExpectSilence(idle);
}

// taskflow#681: one core at full load while any task is active.
TEST(PoolIdleTest, OthersSleepWhileOneTaskBlocks) {
  IdlePool idle;
  absl::Notification running;
  absl::Notification release;
  Go(idle.pool(), [&] {
    running.Notify();
    release.WaitForNotification();
  });
  running.WaitForNotification();
  AwaitAsleep(idle, 7);
  ExpectSilence(idle);
  release.Notify();
}

// grpc#39258: waiting for the end must not be a busy loop, nor wake anybody.
TEST(PoolIdleTest, DrainingPoolSleepsUntilItsLastTaskEnds) {
  IdlePool idle;
  absl::Notification running;
  absl::Notification release;
  Go(idle.pool(), [&] {
    running.Notify();
    release.WaitForNotification();
  });
  running.WaitForNotification();
  idle.pool().Shutdown(ShutdownMode::kDrain);
  AwaitAsleep(idle, 7);
  ExpectSilence(idle);
  release.Notify();
  idle.pool().ShutdownAndWait(ShutdownMode::kDrain);
}

class PoolWakeTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, PoolWakeTest, testing::Values(1, 2, 8), WorkerCountName);

// tokio#4383, rayon#642: a trickle of single tasks wakes one worker for each, and none for
// nothing.
TEST_P(PoolWakeTest, SingleTaskWakesASingleWorker) {
  WorkStealingPool pool({.workers = GetParam()});
  AwaitParked(pool);
  const WorkerStats before = Total(pool);
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    Go(pool, [] {});
    RunUntil(pool, [&] { return pool.task_count() == 0; });
    AwaitParked(pool);
  }
  const WorkerStats after = Total(pool);
  EXPECT_EQ(after.tasks - before.tasks, kRounds);
  EXPECT_LE(after.wakeups - before.wakeups, kRounds);
  EXPECT_EQ(after.wakeups_without_work - before.wakeups_without_work, 0);
}

// Seven sleepers and a burst: each finder wakes the next until all are busy.
TEST_P(PoolWakeTest, BurstWakesAsManyAsItNeeds) {
  WorkStealingPool pool({.workers = GetParam()});
  AwaitParked(pool);
  std::atomic<int> running{0};
  absl::Notification release;
  for (int i = 0; i < GetParam(); ++i) {
    Go(pool, [&] {
      running.fetch_add(1);
      release.WaitForNotification();
    });
  }
  RunUntil(pool, [&] { return running.load() == GetParam(); });
  EXPECT_EQ(pool.stats().parked, 0);
  release.Notify();
}

// tokio#1768: a submit in the very moment in which the last worker parks.
TEST_P(PoolWakeTest, SubmitWhileWorkersParkIsNeverMissed) {
  WorkStealingPool pool({.workers = GetParam()});
  std::atomic<int> ran{0};
  for (int round = 0; round < 5'000; ++round) {
    Go(pool, [&] { ran.fetch_add(1); });
    // Varies the distance to the park.
    for (int i = 0; i < round % 64; ++i) asm volatile("");
    RunUntil(pool, [&] { return ran.load() == round + 1; });
  }
}

TEST(PoolSpinTest, PoolLargerThanTheMachineDoesNotSpin) {
  const int workers = 4 * static_cast<int>(sysconf(_SC_NPROCESSORS_CONF));
  WorkStealingPool pool({.workers = workers, .spin = absl::Hours(1)});
  // With a spin of an hour this would not return if any worker spun.
  AwaitParked(pool);
}

TEST(PoolSpinTest, SearchGoesOnForItsTimeAndThenEnds) {
  // This clock stands still until the searcher has swept often, and then leaps.
  class SweepClock final : public Clock {
   public:
    [[nodiscard]] absl::Time Now() const override { return absl::UnixEpoch(); }
    [[nodiscard]] std::int64_t MonotonicNanos() const override {
      const std::int64_t reading = readings_.fetch_add(1);
      return reading < 1000 ? 0 : reading * 3'600'000'000'000;
    }

   private:
    mutable std::atomic<std::int64_t> readings_{0};
  };
  SweepClock clock;
  WorkStealingPool pool({.workers = 1, .spin = absl::Minutes(1), .clock = &clock});
  AwaitParked(pool);
  const WorkerStats stats = Total(pool);
  EXPECT_GT(stats.idle_spins, 900);
  EXPECT_LT(stats.idle_spins, 1000);
}

}  // namespace
}  // namespace jackdaw
