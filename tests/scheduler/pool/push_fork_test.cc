// When others can take what a running task forks. Written for the policy that keeps forks private
// for a while (split_deque.h); with the other they can at once.

#include <sched.h>

#include <array>
#include <atomic>
#include <functional>

#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"
#include "tests/scheduler/pool/counted_task.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

class PushForkTest : public testing::Test {
 protected:
  // Forks on one worker while the other is busy, which it is not any more when `wait` is called to
  // wait for them. All must run on the other: the forking task takes none back.
  void ForkWhileAllAreBusy(const std::function<void(WorkerContext&)>& wait) {
    std::atomic<bool> other_is_busy{false};
    std::atomic<bool> other_may_end{false};
    std::atomic<bool> done{false};
    Go(pool_, [&] {
      other_is_busy.store(true);
      while (!other_may_end.load()) sched_yield();
    });
    Go(pool_, [&] {
      while (!other_is_busy.load()) sched_yield();
      WorkerContext& worker = *WorkerContext::Current();
      for (CountedTask& fork : forks_) worker.PushFork(&fork);
      other_may_end.store(true);
      wait(worker);
      done.store(true);
    });
    RunUntil(pool_, [&] { return done.load(); });
    AwaitParked(pool_);
    ExpectExactCounters(pool_);
    for (const CountedTask& fork : forks_) EXPECT_EQ(fork.runs(), 1);
  }
  [[nodiscard]] bool AllRan() const {
    for (const CountedTask& fork : forks_) {
      if (fork.runs() != 1) return false;
    }
    return true;
  }

  WorkStealingPool pool_{{.workers = 2}};
  std::array<CountedTask, 3> forks_;
};

TEST_F(PushForkTest, ForksAreTakenFromATaskThatLooksNowAndThen) {
  ForkWhileAllAreBusy([this](WorkerContext& worker) {
    while (!AllRan()) {
      (void)worker.Depth();
      sched_yield();
    }
  });
}

TEST_F(PushForkTest, ForksAreTakenFromATaskThatWaits) {
  ForkWhileAllAreBusy([this](WorkerContext& worker) {
    worker.BeforeWait();
    while (!AllRan()) sched_yield();
  });
}

TEST_F(PushForkTest, ForksAreTakenFromATaskThatBlocks) {
  ForkWhileAllAreBusy([this](WorkerContext& worker) {
    worker.BeginBlocking();
    while (!AllRan()) sched_yield();
    worker.EndBlocking();
  });
}

// The oldest one is never private: the largest part of the work hangs on it.
TEST_F(PushForkTest, OldestForkIsTakenThoughTheTaskNeverLooks) {
  ForkWhileAllAreBusy([this](WorkerContext& worker) {
    while (forks_[0].runs() == 0) sched_yield();
    worker.BeforeWait();
    while (!AllRan()) sched_yield();
  });
}

TEST_F(PushForkTest, ForkWakesAParkedWorker) {
  std::atomic<bool> done{false};
  AwaitParked(pool_);
  Go(pool_, [&] {
    WorkerContext::Current()->PushFork(&forks_[0]);
    while (forks_[0].runs() == 0) sched_yield();
    done.store(true);
  });
  RunUntil(pool_, [&] { return done.load(); });
}

}  // namespace
}  // namespace jackdaw
