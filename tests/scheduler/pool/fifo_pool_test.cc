// The FifoPool and the BackgroundThread, beyond what every kind of runner does.

#include "scheduler/pool/fifo_pool.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/background_thread.h"
#include "scheduler/pool/task_ring.h"
#include "tests/scheduler/pool/counted_task.h"

namespace jackdaw {
namespace {

class FifoPoolTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, FifoPoolTest, testing::Values(1, 2, 8), [](const auto& threads) {
  return std::to_string(threads.param) + "Threads";
});

TEST_P(FifoPoolTest, NameAndSizeAreThoseAskedFor) {
  FifoPool pool({.name = "io", .threads = GetParam()});
  EXPECT_EQ(pool.name(), "io");
  EXPECT_EQ(pool.size(), GetParam());
}

// Each thread takes the oldest: when task i starts, all before it have been started.
TEST_P(FifoPoolTest, TasksStartInTheirOrder) {
  absl::Notification release;
  std::atomic<int> running{0};
  absl::Mutex mutex;
  std::vector<int> order;
  {
    FifoPool pool({.threads = GetParam()});
    // All but one thread are kept busy, or two could swap between start and note.
    for (int i = 1; i < GetParam(); ++i) {
      ASSERT_TRUE(pool.Run([&] {
                        running.fetch_add(1);
                        release.WaitForNotification();
                      })
                      .ok());
    }
    while (running.load() != GetParam() - 1) sched_yield();
    for (int i = 0; i < 5000; ++i) {
      ASSERT_TRUE(pool.Run([&, i] {
                        absl::MutexLock lock(&mutex);
                        order.push_back(i);
                        if (i == 4999) release.Notify();
                      })
                      .ok());
    }
  }
  ASSERT_EQ(order.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(FifoPoolTest, AllThreadsWorkAtOnce) {
  FifoPool pool({.threads = GetParam()});
  auto* barrier = new absl::Barrier(GetParam());
  std::atomic<int> left{GetParam()};
  for (int i = 0; i < GetParam(); ++i) {
    ASSERT_TRUE(pool.Run([&, barrier] {
                      if (barrier->Block()) delete barrier;
                      left.fetch_sub(1);
                    })
                    .ok());
  }
  while (left.load() != 0) sched_yield();
}

TEST_P(FifoPoolTest, CancelDropsWhatHasNotStarted) {
  FifoPool pool({.threads = GetParam()});
  absl::Notification release;
  std::atomic<int> running{0};
  for (int i = 0; i < GetParam(); ++i) {
    ASSERT_TRUE(pool.Run([&] {
                      running.fetch_add(1);
                      release.WaitForNotification();
                    })
                    .ok());
  }
  while (running.load() != GetParam()) sched_yield();
  std::vector<CountedTask> tasks(100);
  for (CountedTask& task : tasks) ASSERT_TRUE(pool.Submit(&task));
  EXPECT_EQ(pool.task_count(), GetParam() + 100);
  pool.Shutdown(ShutdownMode::kCancel);
  release.Notify();
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  for (const CountedTask& task : tasks) ASSERT_EQ(task.drops(), 1);
}

TEST_P(FifoPoolTest, SubmittersThatRaceWithTheShutdownAreRefusedOrServed) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran{0};
    std::atomic<int> accepted{0};
    std::atomic<int> started{0};
    FifoPool pool({.threads = GetParam()});
    std::vector<std::thread> submitters;
    for (int s = 0; s < 3; ++s) {
      submitters.emplace_back([&] {
        started.fetch_add(1);
        while (pool.Run([&] { ran.fetch_add(1); }).ok()) accepted.fetch_add(1);
      });
    }
    while (started.load() != 3) sched_yield();
    for (int i = 0; i < round; ++i) sched_yield();
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    for (std::thread& submitter : submitters) submitter.join();
    ASSERT_EQ(ran.load(), accepted.load());
    ASSERT_EQ(pool.task_count(), 0);
  }
}

TEST_P(FifoPoolTest, PoolMayBeDestroyedByItsOwnTask) {
  std::atomic<int> ran{0};
  std::atomic<int> exits{0};
  auto owned = std::make_unique<FifoPool>(
      FifoPool::Options{.threads = GetParam(), .on_thread_exit = [&](int) { exits.fetch_add(1); }});
  FifoPool* pool = owned.get();
  absl::Notification handed_over;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool->Run([&] { ran.fetch_add(1); }).ok());
  ASSERT_TRUE(pool->Run([&] {
                    handed_over.WaitForNotification();
                    owned.reset();
                    ran.fetch_add(1);
                  })
                  .ok());
  handed_over.Notify();
  while (ran.load() != 101 || exits.load() != GetParam()) sched_yield();
}

TEST(FifoPoolThreadsTest, ThreadsHaveNamesHooksAndNoSignals) {
  absl::Mutex mutex;
  std::vector<std::string> log;
  const auto note = [&](const std::string& what, int worker) {
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    absl::MutexLock lock(&mutex);
    log.push_back(what + std::to_string(worker) + " on " + name);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
    EXPECT_EQ(sigismember(&mask, SIGSEGV), 0);
  };
  {
    FifoPool pool({.name = "io",
                   .threads = 2,
                   .on_thread_start = [&](int worker) { note("start ", worker); },
                   .on_thread_exit = [&](int worker) { note("exit ", worker); }});
  }
  EXPECT_THAT(log,
              testing::UnorderedElementsAre("start 0 on io.worker.0", "exit 0 on io.worker.0",
                                            "start 1 on io.worker.1", "exit 1 on io.worker.1"));
}

TEST(FifoPoolThreadsTest, RefusedThreadsLeaveAPoolOfThoseThereAre) {
  int created = 0;
  FifoPool pool(
      {.threads = 8, .create_thread = [&](pthread_t* t, void* (*body)(void*), void* argument) {
         if (created == 2) return EAGAIN;
         ++created;
         return pthread_create(t, nullptr, body, argument);
       }});
  EXPECT_EQ(pool.size(), 2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.Run([&] { ran.fetch_add(1); }).ok());
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 100);
}

TEST(FifoPoolThreadsTest, CreateSaysWhenNotEvenOneThreadStarts) {
  const auto pool =
      FifoPool::Create({.name = "mill", .create_thread = [](auto...) { return EAGAIN; }});
  EXPECT_EQ(pool.status(),
            absl::ResourceExhaustedError("runner 'mill': the system refuses to start a thread"));
}

TEST(FifoPoolThreadsTest, CreateMakesAPoolThatWorks) {
  auto pool = FifoPool::Create({.name = "mill", .threads = 2});
  ASSERT_TRUE(pool.ok());
  std::atomic<Runner*> current{nullptr};
  ASSERT_TRUE((*pool)->Run([&] { current.store(Runner::Current()); }).ok());
  (*pool)->ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(current.load(), pool->get());
}

TEST(FifoPoolDeathTest, RefusingTheFirstThreadSaysSo) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(FifoPool({.name = "mill", .create_thread = [](auto...) { return EAGAIN; }}),
               "runner 'mill': the system refuses to start a thread");
}

TEST(BackgroundThreadTest, OwnsAResourceThatOnlyItsThreadTouches) {
  // Notes which thread does what to it.
  struct Resource {
    std::thread::id opened_by = std::this_thread::get_id();
    std::vector<int> written;
  };
  std::optional<Resource> resource;
  std::vector<int> written;
  std::thread::id opened_by;
  std::thread::id closed_by;
  {
    BackgroundThread owner({.name = "db",
                            .on_thread_start = [&] { resource.emplace(); },
                            .on_thread_exit =
                                [&] {
                                  closed_by = std::this_thread::get_id();
                                  opened_by = resource->opened_by;
                                  written = resource->written;
                                  resource.reset();
                                }});
    EXPECT_EQ(owner.size(), 1);
    EXPECT_EQ(owner.name(), "db");
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(owner.Run([&resource, i] { resource->written.push_back(i); }).ok());
    }
  }
  EXPECT_FALSE(resource.has_value());
  EXPECT_NE(opened_by, std::this_thread::get_id());
  EXPECT_EQ(opened_by, closed_by);
  ASSERT_EQ(written.size(), 100u);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(written[static_cast<std::size_t>(i)], i);
}

TEST(TaskRingTest, KeepsItsOrderThroughGrowthAndGivingMemoryBack) {
  TaskRing ring;
  std::vector<CountedTask> tasks(5000);
  std::size_t pushed = 0;
  std::size_t taken = 0;
  for (std::size_t burst : {10u, 2000u, 1u, 2500u, 489u}) {
    for (std::size_t i = 0; i < burst; ++i) ring.Push(&tasks[pushed++]);
    EXPECT_EQ(ring.size(), burst);
    while (!ring.empty()) ASSERT_EQ(ring.Pop(), &tasks[taken++]);
  }
  EXPECT_EQ(taken, 5000u);
}

}  // namespace
}  // namespace jackdaw
