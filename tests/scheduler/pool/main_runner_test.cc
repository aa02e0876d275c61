#include "scheduler/pool/main_runner.h"

#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/fifo_pool.h"
#include "tests/scheduler/pool/counted_task.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;

TEST(MainRunnerTest, RunsOnTheCallingThreadUntilTheEvent) {
  MainRunner main;
  FifoPool pool({.threads = 1});
  MainRunner::Event done(main);
  std::vector<std::thread::id> ran_on;
  ASSERT_TRUE(pool.Run([&] {
                    for (int i = 0; i < 3; ++i) {
                      ASSERT_TRUE(
                          main.Run([&] { ran_on.push_back(std::this_thread::get_id()); }).ok());
                    }
                    ASSERT_TRUE(main.Run([&] { done.Notify(); }).ok());
                  })
                  .ok());
  EXPECT_TRUE(main.RunUntil(done).ok());
  const auto here = std::this_thread::get_id();
  EXPECT_THAT(ran_on, ElementsAre(here, here, here));
  EXPECT_EQ(main.size(), 0);
}

TEST(MainRunnerTest, EventOfAnotherThreadEndsTheSleep) {
  for (int round = 0; round < 1000; ++round) {
    MainRunner main;
    auto done = std::make_unique<MainRunner::Event>(main);
    std::thread notifier([&] { done->Notify(); });
    EXPECT_TRUE(main.RunUntil(*done).ok());
    done.reset();  // At once: Notify() may still be returning.
    notifier.join();
  }
}

TEST(MainRunnerTest, TasksBeyondTheEventStayQueued) {
  MainRunner main;
  MainRunner::Event done(main);
  std::vector<int> order;
  ASSERT_TRUE(main.Run([&] {
                    order.push_back(1);
                    done.Notify();
                  })
                  .ok());
  ASSERT_TRUE(main.Run([&] { order.push_back(2); }).ok());
  EXPECT_TRUE(main.RunUntil(done).ok());
  EXPECT_THAT(order, ElementsAre(1));
  EXPECT_EQ(main.task_count(), 1);
  EXPECT_EQ(main.RunUntilIdle(), 1);
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST(MainRunnerTest, EventThatHasHappenedRunsNothing) {
  MainRunner main;
  CountedTask task;
  ASSERT_TRUE(main.Submit(&task));
  MainRunner::Event done(main);
  done.Notify();
  EXPECT_TRUE(done.HasBeenNotified());
  EXPECT_TRUE(main.RunUntil(done).ok());
  EXPECT_EQ(task.runs(), 0);
}

TEST(MainRunnerTest, TaskMayWaitForAnEventInTurn) {
  MainRunner main;
  MainRunner::Event inner(main);
  MainRunner::Event outer(main);
  std::vector<int> order;
  ASSERT_TRUE(main.Run([&] {
                    order.push_back(1);
                    EXPECT_TRUE(main.RunUntil(inner).ok());
                    EXPECT_EQ(Runner::Current(), &main);
                    order.push_back(3);
                    outer.Notify();
                  })
                  .ok());
  ASSERT_TRUE(main.Run([&] {
                    order.push_back(2);
                    inner.Notify();
                  })
                  .ok());
  EXPECT_TRUE(main.RunUntil(outer).ok());
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

// Waiting for what can no longer come through this runner would be for ever.
TEST(MainRunnerTest, ShutdownEndsTheWaitOnceNothingIsLeft) {
  MainRunner main({.name = "stage"});
  MainRunner::Event never(main);
  CountedTask last;
  ASSERT_TRUE(main.Run([&] { main.Shutdown(ShutdownMode::kDrain); }).ok());
  ASSERT_TRUE(main.Submit(&last));
  EXPECT_EQ(main.RunUntil(never), absl::UnavailableError("runner 'stage' has been shut down"));
  EXPECT_EQ(last.runs(), 1);
}

TEST(MainRunnerTest, RunOneSaysWhetherThereWasOne) {
  MainRunner main;
  CountedTask task;
  EXPECT_FALSE(main.RunOne());
  ASSERT_TRUE(main.Submit(&task));
  EXPECT_TRUE(main.RunOne());
  EXPECT_EQ(task.runs(), 1);
}

}  // namespace
}  // namespace jackdaw
