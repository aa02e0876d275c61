// What a pool promises about running tasks, at every worker count. Shutdown, idling and work
// sources have files of their own.

#include "scheduler/pool/work_stealing_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/worker_context.h"
#include "scheduler/pool/worker_threads.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

class WorkStealingPoolTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, WorkStealingPoolTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(WorkStealingPoolTest, RunsWhatIsSubmittedFromOutside) {
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) Go(pool, [&] { ran.fetch_add(1); });
  RunUntil(pool, [&] { return ran.load() == 1000; });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).tasks, 1000);
  EXPECT_EQ(pool.stats().injected, 1000);
  ExpectExactCounters(pool);
}

TEST_P(WorkStealingPoolTest, RunsWhatItsTasksSpawn) {
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  struct Tree {
    static void Grow(std::atomic<int>& ran, int depth) {
      ran.fetch_add(1);
      for (int i = 0; i < 2 && depth > 0; ++i) Spawn([&ran, depth] { Grow(ran, depth - 1); });
    }
  };
  Go(pool, [&] { Tree::Grow(ran, 12); });
  RunUntil(pool, [&] { return ran.load() == (1 << 13) - 1; });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).tasks, (1 << 13) - 1);
  EXPECT_EQ(pool.stats().injected, 1);
  ExpectExactCounters(pool);
}

TEST_P(WorkStealingPoolTest, SubmitFromItsOwnTaskDoesNotGoThroughTheInjector) {
  WorkStealingPool pool(Options());
  std::atomic<bool> done{false};
  Go(pool, [&] { Go(pool, [&] { done.store(true); }); });
  RunUntil(pool, [&] { return done.load(); });
  EXPECT_EQ(pool.stats().injected, 1);
}

TEST_P(WorkStealingPoolTest, SubmitFromAnotherPoolsTaskGoesThroughTheInjector) {
  WorkStealingPool pool(Options());
  WorkStealingPool other({.name = "other", .workers = 1});
  std::atomic<bool> done{false};
  Go(other, [&] {
    Go(pool, [&] {
      EXPECT_EQ(&WorkerContext::Current()->pool(), &pool);
      done.store(true);
    });
  });
  RunUntil(pool, [&] { return done.load(); });
  EXPECT_EQ(pool.stats().injected, 1);
}

TEST_P(WorkStealingPoolTest, TaskSeesItsWorkerAndItsRunner) {
  WorkStealingPool pool(Options());
  EXPECT_EQ(WorkerContext::Current(), nullptr);
  EXPECT_EQ(Runner::Current(), nullptr);
  std::atomic<bool> done{false};
  Go(pool, [&] {
    WorkerContext* context = WorkerContext::Current();
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(&context->pool(), &pool);
    EXPECT_EQ(Runner::Current(), &pool);
    EXPECT_GE(context->index(), 0);
    EXPECT_LT(context->index(), std::max(1, pool.size()));
    EXPECT_EQ(context->origin(), Origin::kInjector);
    EXPECT_EQ(context->Depth(), 0);
    done.store(true);
  });
  RunUntil(pool, [&] { return done.load(); });
  AwaitParked(pool);
  EXPECT_EQ(WorkerContext::Current(), nullptr);
  EXPECT_EQ(Runner::Current(), nullptr);
}

TEST_P(WorkStealingPoolTest, NameAndSizeAreThoseAskedFor) {
  WorkStealingPool pool({.name = "oven", .workers = GetParam()});
  EXPECT_EQ(pool.name(), "oven");
  EXPECT_EQ(pool.size(), GetParam());
  EXPECT_EQ(pool.worker_stats().size(), static_cast<std::size_t>(std::max(1, GetParam())));
  EXPECT_EQ(pool.stats().workers, GetParam());
}

TEST_P(WorkStealingPoolTest, InlineRunsCountAsTasksOfTheirOwnOrigin) {
  WorkStealingPool pool(Options());
  std::atomic<bool> done{false};
  Go(pool, [&] {
    WorkerContext::Current()->CountInline(41);
    done.store(true);
  });
  RunUntil(pool, [&] { return done.load(); });
  AwaitParked(pool);
  EXPECT_EQ(Total(pool).tasks, 42);
  EXPECT_EQ(Total(pool).inline_runs, 41);
  ExpectExactCounters(pool);
}

TEST_P(WorkStealingPoolTest, TaskThatIsRunningIsCountedAlready) {
  WorkStealingPool pool(Options());
  std::atomic<std::int64_t> tasks{0};
  Go(pool, [&] { tasks.store(Total(pool).tasks); });
  RunUntil(pool, [&] { return tasks.load() != 0; });
  EXPECT_EQ(tasks.load(), 1);
}

TEST_P(WorkStealingPoolTest, TasksBeyondTheDequesLimitOverflowAndRunOnce) {
  WorkStealingPool pool(Options());
  constexpr int kTasks = 70'000;  // The deque holds 65,536.
  std::vector<std::atomic<int>> runs(kTasks);
  std::atomic<int> ran{0};
  Go(pool, [&] {
    for (int i = 0; i < kTasks; ++i) {
      Spawn([&, i] {
        runs[static_cast<std::size_t>(i)].fetch_add(1);
        ran.fetch_add(1);
      });
    }
  });
  RunUntil(pool, [&] { return ran.load() == kTasks; });
  AwaitParked(pool);
  EXPECT_THAT(runs, testing::Each(testing::ResultOf([](auto& n) { return n.load(); }, 1)));
  EXPECT_EQ(pool.stats().injected, 1);
  ExpectExactCounters(pool);
}

// A closure that outlives its run keeps files, locks and memory of the user's alive
// (domainslib#29).
TEST_P(WorkStealingPoolTest, ClosureIsFreedRightAfterItRan) {
  WorkStealingPool pool(Options());
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  std::atomic<bool> done{false};
  Go(pool, [held = std::move(held), &done] { done.store(true); });
  RunUntil(pool, [&] { return done.load(); });
  AwaitParked(pool);
  EXPECT_TRUE(seen.expired());
}

// Newest first alone would run the pair for ever (tokio#2349).
TEST_P(WorkStealingPoolTest, PairThatPushesEachOtherDoesNotStarveOthers) {
  WorkStealingPool pool(Options());
  std::atomic<int> others{0};
  std::atomic<bool> stop{false};
  struct Pair {
    static void Bounce(std::atomic<bool>& stop) {
      if (!stop.load()) Spawn([&stop] { Bounce(stop); });
    }
  };
  Go(pool, [&] {
    for (int i = 0; i < 100; ++i) Spawn([&] { others.fetch_add(1); });
    for (int i = 0; i < std::max(2, 2 * pool.size()); ++i) Spawn([&stop] { Pair::Bounce(stop); });
  });
  RunUntil(pool, [&] { return others.load() == 100; });
  stop.store(true);
}

// golang#52934: workers that always have local work must look at the injector all the same.
TEST_P(WorkStealingPoolTest, TasksThatSpawnForEverDoNotStarveTheInjector) {
  WorkStealingPool pool(Options());
  std::atomic<bool> stop{false};
  struct Forever {
    static void Run(std::atomic<bool>& stop) {
      if (!stop.load()) Spawn([&stop] { Run(stop); });
    }
  };
  for (int i = 0; i < std::max(1, pool.size()); ++i) Go(pool, [&stop] { Forever::Run(stop); });
  std::atomic<bool> done{false};
  Go(pool, [&] { done.store(true); });
  RunUntil(pool, [&] { return done.load(); });
  stop.store(true);
}

TEST_P(WorkStealingPoolTest, FourSubmittersLoseNothing) {
  WorkStealingPool pool(Options());
  constexpr int kEach = 20'000;
  std::vector<std::atomic<int>> runs(4 * kEach);
  std::atomic<int> ran{0};
  std::vector<std::thread> submitters;
  for (int s = 0; s < 4; ++s) {
    submitters.emplace_back([&, s] {
      for (int i = 0; i < kEach; ++i) {
        Go(pool, [&, at = static_cast<std::size_t>(s * kEach + i)] {
          runs[at].fetch_add(1);
          ran.fetch_add(1);
        });
      }
    });
  }
  RunUntil(pool, [&] { return ran.load() == 4 * kEach; });
  for (std::thread& submitter : submitters) submitter.join();
  AwaitParked(pool);
  EXPECT_THAT(runs, testing::Each(testing::ResultOf([](auto& n) { return n.load(); }, 1)));
  EXPECT_EQ(pool.stats().injected, 4 * kEach);
  ExpectExactCounters(pool);
}

// ---- with threads only ----

// tokio#525: what waits must not wait behind a task that blocks.
TEST(WorkStealingPoolThreadsTest, BlockedWorkerDoesNotHoldUpOthers) {
  for (int workers : {2, 8}) {
    WorkStealingPool pool({.workers = workers});
    absl::Notification release;
    std::atomic<int> ran{0};
    Go(pool, [&] {
      for (int i = 0; i < 500; ++i) Spawn([&] { ran.fetch_add(1); });
      release.WaitForNotification();
    });
    for (int i = 0; i < 500; ++i) Go(pool, [&] { ran.fetch_add(1); });
    RunUntil(pool, [&] { return ran.load() == 1000; });
    release.Notify();
  }
}

// stdexec#1305: a child in its parent's own queue must reach another worker.
TEST(WorkStealingPoolThreadsTest, ParentMayBlockOnAChildWhileAnotherWorkerIsFree) {
  for (int round = 0; round < 200; ++round) {
    WorkStealingPool pool({.workers = 2});
    absl::Notification done;
    Go(pool, [&] {
      absl::Notification child;
      Spawn([&] { child.Notify(); });
      child.WaitForNotification();
      done.Notify();
    });
    done.WaitForNotification();
  }
}

// Work conservation: tasks that one worker spawned come to occupy all workers at once.
TEST(WorkStealingPoolThreadsTest, SpawnedTasksOccupyEveryWorker) {
  for (int round = 0; round < 50; ++round) {
    WorkStealingPool pool({.workers = 8});
    auto* barrier = new absl::Barrier(8);
    std::atomic<int> left{8};
    Go(pool, [&] {
      for (int i = 0; i < 8; ++i) {
        Spawn([&, barrier] {
          if (barrier->Block()) delete barrier;
          left.fetch_sub(1);
        });
      }
    });
    RunUntil(pool, [&] { return left.load() == 0; });
  }
}

TEST(WorkStealingPoolThreadsTest, ThreadsCarryTheNameOfThePoolAndTheirIndex) {
  absl::Mutex mutex;
  std::vector<std::string> names;
  {
    WorkStealingPool pool({.name = "io", .workers = 2, .on_thread_start = [&](int) {
                             char name[32] = "";
                             pthread_getname_np(pthread_self(), name, sizeof(name));
                             absl::MutexLock lock(&mutex);
                             names.emplace_back(name);
                           }});
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("io.worker.0", "io.worker.1"));
}

TEST(WorkStealingPoolThreadsTest, LongNamesAreCutBeforeTheIndex) {
  EXPECT_EQ(WorkerThreadName("io", 7), "io.worker.7");
  EXPECT_EQ(WorkerThreadName("compute", 0), "comput.worker.0");
  EXPECT_EQ(WorkerThreadName("compute", 1023), "com.worker.1023");
}

TEST(WorkStealingPoolThreadsTest, HooksRunOnceOnEachWorkersThread) {
  absl::Mutex mutex;
  std::vector<std::pair<int, std::thread::id>> started;
  std::vector<std::pair<int, std::thread::id>> exited;
  {
    WorkStealingPool pool({.workers = 3,
                           .on_thread_start =
                               [&](int worker) {
                                 absl::MutexLock lock(&mutex);
                                 started.emplace_back(worker, std::this_thread::get_id());
                               },
                           .on_thread_exit =
                               [&](int worker) {
                                 absl::MutexLock lock(&mutex);
                                 exited.emplace_back(worker, std::this_thread::get_id());
                               }});
  }
  EXPECT_EQ(started.size(), 3u);
  EXPECT_THAT(exited, testing::UnorderedElementsAreArray(started));
}

TEST(WorkStealingPoolThreadsTest, SignalsOfTheProgramDoNotReachWorkersButFaultsDo) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  WorkStealingPool pool({.workers = 1});
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
  absl::Notification done;
  Go(pool, [&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
    EXPECT_EQ(sigismember(&mask, SIGCHLD), 1);
    EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
    done.Notify();
  });
  done.WaitForNotification();
}

// tokio#8406, oneTBB#86: a refused thread must not strand work.
TEST(WorkStealingPoolThreadsTest, RefusedThreadsLeaveAPoolOfThoseThereAre) {
  int created = 0;
  WorkStealingPool pool(
      {.workers = 8, .create_thread = [&](pthread_t* t, void* (*body)(void*), void* argument) {
         if (created == 2) return EAGAIN;
         ++created;
         return pthread_create(t, nullptr, body, argument);
       }});
  EXPECT_EQ(pool.size(), 2);
  EXPECT_EQ(pool.worker_stats().size(), 2u);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) Go(pool, [&] { ran.fetch_add(1); });
  RunUntil(pool, [&] { return ran.load() == 100; });
}

TEST(WorkStealingPoolThreadsTest, CreateSaysWhenNotEvenOneThreadStarts) {
  const auto none =
      WorkStealingPool::Create({.name = "mill", .create_thread = [](auto...) { return EAGAIN; }});
  EXPECT_EQ(none.status(),
            absl::ResourceExhaustedError("runner 'mill': the system refuses to start a thread"));
  const auto two = WorkStealingPool::Create({.name = "mill", .workers = 2});
  ASSERT_TRUE(two.ok());
  absl::Notification done;
  Go(**two, [&] {
    EXPECT_EQ(Runner::Current(), two->get());
    done.Notify();
  });
  done.WaitForNotification();
}

TEST(WorkStealingPoolDeathTest, RefusingTheFirstThreadSaysSo) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(WorkStealingPool(
                   {.name = "mill", .workers = 2, .create_thread = [](auto...) { return EAGAIN; }}),
               "runner 'mill': the system refuses to start a thread");
}

TEST(WorkStealingPoolDeathTest, RunOneIsNotForAPoolWithWorkers) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        WorkStealingPool pool({.name = "mill", .workers = 1});
        pool.RunOne();
      },
      "runner 'mill' has workers of its own");
}

TEST(WorkStealingPoolThreadsTest, DefaultSizeIsTheUsableCpus) {
  WorkStealingPool pool({});
  EXPECT_GE(pool.size(), 1);
  EXPECT_LE(pool.size(), static_cast<int>(std::thread::hardware_concurrency()));
}

// BS::thread_pool#93: hangs after some thousand rounds.
TEST(WorkStealingPoolThreadsTest, ManyShortLivesEndCleanly) {
  for (int round = 0; round < 1000; ++round) {
    std::atomic<int> ran{0};
    const int tasks = round % 4;
    {
      WorkStealingPool pool({.workers = 1 + round % 3});
      for (int i = 0; i < tasks; ++i) Go(pool, [&] { ran.fetch_add(1); });
    }
    ASSERT_EQ(ran.load(), tasks);
  }
}

TEST(WorkStealingPoolThreadsTest, ShouldYieldWhileTheInjectorHoldsWork) {
  for (int workers : {1, 2, 8}) {
    WorkStealingPool pool({.workers = workers});
    std::atomic<int> running{0};
    std::atomic<int> yields{0};
    absl::Notification submitted;
    auto* all_have_looked = new absl::Barrier(workers);
    // As many as there are workers, so that none is left to take the task below.
    for (int i = 0; i < workers; ++i) {
      Go(pool, [&, all_have_looked] {
        running.fetch_add(1);
        submitted.WaitForNotification();
        if (WorkerContext::Current()->ShouldYield()) yields.fetch_add(1);
        if (all_have_looked->Block()) delete all_have_looked;
      });
    }
    RunUntil(pool, [&] { return running.load() == workers; });
    Go(pool, [] {});
    submitted.Notify();
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    EXPECT_EQ(yields.load(), workers);
  }
}

// ---- without workers ----

TEST(WorkStealingPoolWithoutWorkersTest, NothingRunsUntilItIsDriven) {
  WorkStealingPool pool({.workers = 0});
  int ran = 0;
  Go(pool, [&] { ++ran; });
  Go(pool, [&] { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(pool.task_count(), 2);
  EXPECT_TRUE(pool.RunOne());
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(pool.RunUntilIdle(), 1);
  EXPECT_EQ(ran, 2);
  EXPECT_FALSE(pool.RunOne());
  EXPECT_EQ(pool.task_count(), 0);
}

TEST(WorkStealingPoolWithoutWorkersTest, SubmittedTasksRunInTheirOrder) {
  WorkStealingPool pool({.workers = 0});
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) Go(pool, [&order, i] { order.push_back(i); });
  pool.RunUntilIdle();
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(order, sorted);
  EXPECT_EQ(order.size(), 20u);
}

TEST(WorkStealingPoolWithoutWorkersTest, ShouldYieldIsAboutTheInjectorNotTheOwnDeque) {
  WorkStealingPool pool({.workers = 0});
  Go(pool, [&] {
    Spawn([] {});
    EXPECT_FALSE(WorkerContext::Current()->ShouldYield());
    std::thread([&] { Go(pool, [] {}); }).join();
    EXPECT_TRUE(WorkerContext::Current()->ShouldYield());
  });
  EXPECT_EQ(pool.RunUntilIdle(), 3);
}

TEST(WorkStealingPoolWithoutWorkersTest, TaskMayDriveThePoolInTurn) {
  WorkStealingPool pool({.workers = 0});
  std::vector<std::string> order;
  Go(pool, [&] {
    order.emplace_back("outer begins");
    Go(pool, [&] { order.emplace_back("inner"); });
    EXPECT_TRUE(pool.RunOne());
    EXPECT_EQ(WorkerContext::Current()->origin(), Origin::kInjector);
    order.emplace_back("outer ends");
  });
  EXPECT_EQ(pool.RunUntilIdle(), 1);
  EXPECT_THAT(order, testing::ElementsAre("outer begins", "inner", "outer ends"));
}

}  // namespace
}  // namespace jackdaw
