// Failures that users of other schedulers met while they waited, as far as no other test here
// has them already; the page docs/scheduler-failures.md has them all.

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/for_each.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/pipeline.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/main_runner.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

// What the system says of a thread of this process: whether it sleeps, and each time it gave up
// its CPU or lost it.
struct ThreadStatus {
  bool asleep = false;
  std::string switches;

  static ThreadStatus Of(int thread) {
    ThreadStatus status;
    std::ifstream file(absl::StrCat("/proc/self/task/", thread, "/status"));
    for (std::string line; std::getline(file, line);) {
      if (absl::StartsWith(line, "State:")) status.asleep = absl::StrContains(line, "S (sleeping)");
      if (absl::StrContains(line, "ctxt_switches")) absl::StrAppend(&status.switches, line, "\n");
    }
    return status;
  }
};

// Something that takes a while, without any clock.
void WorkAlone() {
  for (int i = 0; i < 50'000'000; ++i) asm volatile("" : "+r"(i));
}

// Returns once `thread` sleeps for good. For one that spins, or wakes now and then, that is never,
// and the test's time limit ends it.
void AwaitAsleep(const std::atomic<int>& thread) {
  ThreadStatus before;
  for (ThreadStatus now; !now.asleep || now.switches != before.switches;) {
    before = std::exchange(now, ThreadStatus::Of(thread.load()));
    WorkAlone();
  }
}

int ThisThread() { return static_cast<int>(syscall(SYS_gettid)); }

// taskflow#706: a task that waited for others spun until they were done.
TEST(KnownWaitFailuresTest, AWaitForAnotherRunnerSleeps) {
  FifoPool blocking({.name = "blocking", .threads = 1});
  WorkStealingPool pool({.name = "test", .workers = 2});
  absl::Notification release;
  std::atomic<int> waiter{0};
  const Future<int> slow = Spawn(blocking, [&] {
    release.WaitForNotification();
    return 1;
  });
  const Future<int> waited = Spawn(pool, [&] {
    waiter = ThisThread();
    return slow.Wait();
  });
  AwaitAsleep(waiter);
  release.Notify();
  EXPECT_EQ(waited.Wait().value(), 1);
}

TEST(KnownWaitFailuresTest, AJoinWhoseForkBlocksSleeps) {
  WorkStealingPool pool({.name = "test", .workers = 2});
  absl::Notification taken;
  absl::Notification release;
  std::atomic<int> joiner{0};
  const Future<void> joined = Spawn(pool, [&] {
    auto fork = Fork([&] {
      taken.Notify();
      release.WaitForNotification();
    });
    taken.WaitForNotification();
    joiner = ThisThread();
    return fork.Join();
  });
  AwaitAsleep(joiner);
  release.Notify();
  EXPECT_EQ(joined.Wait(), absl::OkStatus());
}

TEST(KnownWaitFailuresTest, AMainRunnerWithNothingToRunSleeps) {
  MainRunner runner;
  MainRunner::Event done(runner);
  std::atomic<int> driver{0};
  std::thread thread([&] {
    driver = ThisThread();
    EXPECT_EQ(runner.RunUntil(done), absl::OkStatus());
  });
  AwaitAsleep(driver);
  done.Notify();
  thread.join();
}

// oneTBB#1684, oneTBB#2156: work that nobody serves while somebody waits for it. oneTBB#2056:
// no worker at all where there is one CPU. Each wait ends on a pool of one, with work for it
// queued behind other work, on a thread that did not submit it.
TEST(KnownWaitFailuresTest, EveryWaitEndsOnAPoolOfOneBehindOtherWork) {
  const auto lines = [](int count) {
    return [count]() mutable { return count-- > 0 ? std::optional<int>(count) : std::nullopt; };
  };
  const std::vector<std::function<absl::Status(WorkStealingPool&)>> waits = {
      [](WorkStealingPool& pool) { return Spawn(pool, [] {}).Wait(); },
      [](WorkStealingPool& pool) {
        return Spawn(pool, []() -> CoTask<void> { co_return; }).Wait();
      },
      [](WorkStealingPool& pool) { return ForEachIndex(pool, 10, [](std::size_t) {}).Wait(); },
      [](WorkStealingPool& pool) {
        return InvokeOn(
            pool, [] {}, [] {});
      },
      [](WorkStealingPool& pool) { return ParallelFor(pool, 0, 10, [](int) {}); },
      [&](WorkStealingPool& pool) {
        return RunPipeline(
            pool, lines(10), [](int i) { return i; }, [](int) {});
      },
      [](WorkStealingPool& pool) {
        pool.ShutdownAndWait(ShutdownMode::kDrain);
        return absl::OkStatus();
      },
  };
  for (std::size_t i = 0; i < waits.size(); ++i) {
    SCOPED_TRACE(i);
    WorkStealingPool pool({.name = "test", .workers = 1});
    std::atomic<int> others{0};
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(pool.Run([&] { ++others; }).ok());
    std::thread waiter([&] { EXPECT_EQ(waits[i](pool), absl::OkStatus()); });
    waiter.join();
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    EXPECT_EQ(others.load(), 100);
  }
}

// cppcoro#129: completions that call each other, one for each future that is waited for.
TEST(KnownWaitFailuresTest, AMillionFuturesInOneWaitNeedNoStack) {
  constexpr std::size_t kFutures = 1'000'000;
  const Promise<int> last;
  std::vector<Future<int>> futures(kFutures - 1, Future<int>::Ready(1));
  futures.push_back(last.future());
  const Future<std::vector<int>> all = WhenAll(futures);
  const Future<void> barrier = Barrier(futures);
  EXPECT_FALSE(all.is_ready());
  last.Fulfil(2);
  EXPECT_EQ(all.Wait()->size(), kFutures);
  EXPECT_EQ(all.Wait()->back(), 2);
  EXPECT_EQ(barrier.Wait(), absl::OkStatus());
}

// rayon#10, taskflow#479, taskflow#590: whoever waits for work that threw must not wait for
// ever, whatever the work was.
TEST(KnownWaitFailuresTest, NoWaitOutlivesAThrow) {
  WorkStealingPool pool({.name = "test", .workers = 2});
  const auto boom = [](auto&&...) -> int { throw std::runtime_error("boom"); };
  const absl::Status expected = absl::UnknownError("boom");
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(Spawn(pool, boom).Wait().status(), expected);
    EXPECT_EQ(Spawn(pool, [&]() -> CoTask<int> { co_return boom(); }).Wait().status(), expected);
    EXPECT_EQ(Spawn(pool, [] { return 1; }).Map(boom).Wait().status(), expected);
    EXPECT_EQ(Spawn(pool, [] { return 1; })
                  .Then([&](int) -> Future<int> {
                    boom();
                    return {};
                  })
                  .Wait()
                  .status(),
              expected);
    EXPECT_EQ(ForEachIndex(pool, 10, boom).Wait(), expected);
    EXPECT_EQ(InvokeOn(pool, boom, boom), expected);
    EXPECT_EQ(ParallelFor(pool, 0, 10, [&](int i) { boom(i); }), expected);
    const auto read = []() -> std::optional<int> { return 1; };
    EXPECT_EQ(RunPipeline(pool, read, boom, [](int) {}), expected);
  }
}

}  // namespace
}  // namespace jackdaw
