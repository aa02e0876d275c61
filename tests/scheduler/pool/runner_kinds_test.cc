// What every kind of runner promises, whoever wrote it.

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/background_thread.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/main_runner.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/counted_task.h"

namespace jackdaw {
namespace {

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Runner>(ErrorEdge::Hook)> make;
};

Kind WorkStealing(int workers) {
  return {"WorkStealing" + std::to_string(workers), [workers](ErrorEdge::Hook hook) {
            return std::make_unique<WorkStealingPool>(WorkStealingPool::Options{
                .name = "kind", .workers = workers, .on_error = std::move(hook)});
          }};
}

Kind Fifo(int threads) {
  return {"Fifo" + std::to_string(threads), [threads](ErrorEdge::Hook hook) {
            return std::make_unique<FifoPool>(
                FifoPool::Options{.name = "kind", .threads = threads, .on_error = std::move(hook)});
          }};
}

Kind Background() {
  return {"Background", [](ErrorEdge::Hook hook) {
            return std::make_unique<BackgroundThread>(
                BackgroundThread::Options{.name = "kind", .on_error = std::move(hook)});
          }};
}

Kind Main() {
  return {"Main", [](ErrorEdge::Hook hook) {
            return std::make_unique<MainRunner>(
                MainRunner::Options{.name = "kind", .on_error = std::move(hook)});
          }};
}

class RunnerKindsTest : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] static std::unique_ptr<Runner> Make(ErrorEdge::Hook hook = nullptr) {
    return GetParam().make(std::move(hook));
  }
  // Lets `runner` run until `done()`: drives it where it has no threads.
  template <typename Done>
  static void RunUntil(Runner& runner, Done&& done) {
    while (!done()) {
      if (auto* main = dynamic_cast<MainRunner*>(&runner)) main->RunOne();
      auto* pool = dynamic_cast<WorkStealingPool*>(&runner);
      if (pool != nullptr && pool->size() == 0) pool->RunOne();
      sched_yield();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, RunnerKindsTest,
                         testing::Values(WorkStealing(0), WorkStealing(1), WorkStealing(2),
                                         WorkStealing(8), Fifo(1), Fifo(2), Fifo(8), Background(),
                                         Main()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(RunnerKindsTest, RunsEachTaskOnce) {
  const auto runner = Make();
  std::vector<CountedTask> tasks(1000);
  for (CountedTask& task : tasks) ASSERT_TRUE(runner->Submit(&task));
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  for (const CountedTask& task : tasks) {
    ASSERT_EQ(task.runs(), 1);
    ASSERT_EQ(task.drops(), 0);
  }
  EXPECT_EQ(runner->task_count(), 0);
}

TEST_P(RunnerKindsTest, IsCurrentForItsTasksAlone) {
  const auto runner = Make();
  std::atomic<Runner*> seen{nullptr};
  ASSERT_TRUE(runner->Run([&] { seen.store(Runner::Current()); }).ok());
  RunUntil(*runner, [&] { return seen.load() != nullptr; });
  EXPECT_EQ(seen.load(), runner.get());
  EXPECT_EQ(Runner::Current(), nullptr);
}

TEST_P(RunnerKindsTest, CountsTheTaskThatRunsAndThoseThatWait) {
  const auto runner = Make();
  std::atomic<std::int64_t> count{0};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(runner->Run([&] { count.fetch_add(1); }).ok());
  }
  RunUntil(*runner, [&] { return runner->task_count() == 0; });
  EXPECT_EQ(count.load(), 3);
  ASSERT_TRUE(runner->Run([&] { count.store(runner->task_count()); }).ok());
  RunUntil(*runner, [&] { return runner->task_count() == 0; });
  EXPECT_EQ(count.load(), 1);
}

TEST_P(RunnerKindsTest, DrainRunsWhatTasksSubmitMeanwhile) {
  const auto runner = Make();
  std::atomic<int> ran{0};
  std::function<void(int)> grow = [&](int depth) {
    ran.fetch_add(1);
    for (int i = 0; i < 2 && depth > 0; ++i) {
      ASSERT_TRUE(Runner::Current()->Run([&grow, depth] { grow(depth - 1); }).ok());
    }
  };
  ASSERT_TRUE(runner->Run([&] { grow(10); }).ok());
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), (1 << 11) - 1);
}

TEST_P(RunnerKindsTest, CancelRunsOrDropsEachTaskOnce) {
  const auto runner = Make();
  std::vector<CountedTask> tasks(500);
  for (CountedTask& task : tasks) ASSERT_TRUE(runner->Submit(&task));
  runner->ShutdownAndWait(ShutdownMode::kCancel);
  for (const CountedTask& task : tasks) ASSERT_EQ(task.runs() + task.drops(), 1);
}

TEST_P(RunnerKindsTest, RefusesWorkOnceShutDownAndSaysSo) {
  const auto runner = Make();
  runner->Shutdown(ShutdownMode::kDrain);
  CountedTask task;
  EXPECT_FALSE(runner->Submit(&task));
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_FALSE(runner->Submit(&task));
  EXPECT_EQ(task.runs() + task.drops(), 0);
  EXPECT_EQ(runner->Run([] {}), absl::UnavailableError("runner 'kind' has been shut down"));
}

TEST_P(RunnerKindsTest, ShutdownIsIdempotentAndFromItsOwnTaskDoesNotWaitForItself) {
  const auto runner = Make();
  std::atomic<int> ran{0};
  ASSERT_TRUE(runner
                  ->Run([&] {
                    runner->ShutdownAndWait(ShutdownMode::kDrain);
                    runner->Shutdown(ShutdownMode::kCancel);
                    ran.fetch_add(1);
                  })
                  .ok());
  RunUntil(*runner, [&] { return ran.load() == 1; });
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  runner->ShutdownAndWait(ShutdownMode::kCancel);
  EXPECT_EQ(ran.load(), 1);
}

// rayon#10, stdexec#1213: what a task throws reaches the hook, and the runner goes on.
TEST_P(RunnerKindsTest, ThrownExceptionsGoToTheHookAndTheRunnerGoesOn) {
  absl::Mutex mutex;
  std::vector<std::string> errors;
  const auto runner = Make([&](const absl::Status& error) {
    absl::MutexLock lock(&mutex);
    errors.push_back(error.ToString());
    throw std::logic_error("from the hook");
  });
  std::atomic<int> ran{0};
  ASSERT_TRUE(runner->Run([] { throw std::runtime_error("spilt milk"); }).ok());
  ASSERT_TRUE(runner->Run([] { throw 42; }).ok());
  ASSERT_TRUE(runner->Run([&] { ran.fetch_add(1); }).ok());
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 1);
  EXPECT_THAT(errors,
              testing::UnorderedElementsAre(
                  "UNKNOWN: runner 'kind': uncaught: spilt milk",
                  "UNKNOWN: runner 'kind': uncaught: an exception that is not a std::exception"));
}

// moonpool#17: a task that is submitted to B by a worker of A runs on B, and what it submits in
// turn does too.
TEST_P(RunnerKindsTest, TaskSubmittedFromAnotherRunnersTaskRunsHere) {
  const auto runner = Make();
  WorkStealingPool other({.name = "other", .workers = 2});
  std::atomic<int> here{0};
  std::atomic<int> there{0};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(other
                    .Run([&] {
                      ASSERT_TRUE(runner
                                      ->Run([&] {
                                        if (Runner::Current() == runner.get()) here.fetch_add(1);
                                        ASSERT_TRUE(other
                                                        .Run([&] {
                                                          if (Runner::Current() == &other) {
                                                            there.fetch_add(1);
                                                          }
                                                        })
                                                        .ok());
                                      })
                                      .ok());
                    })
                    .ok());
  }
  RunUntil(*runner, [&] { return here.load() == 100 && there.load() == 100; });
  // Before the other one dies: a task may be about to leave its Run().
  runner->ShutdownAndWait(ShutdownMode::kDrain);
}

TEST(ErrorEdgeTest, WithoutARunnerOrAHookItPrints) {
  testing::internal::CaptureStderr();
  MakeTask([] { throw std::runtime_error("nobody listens"); })->Run();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "runner '(none)': uncaught: nobody listens\n");
}

TEST(ErrorEdgeTest, HooksOfThreadsMayThrow) {
  for (int kind = 0; kind < 2; ++kind) {
    std::atomic<int> errors{0};
    std::atomic<int> ran{0};
    const auto count = [&](const absl::Status&) { errors.fetch_add(1); };
    const auto boom = [](int) { throw std::runtime_error("hook"); };
    std::unique_ptr<Runner> runner;
    if (kind == 0) {
      runner = std::make_unique<FifoPool>(FifoPool::Options{
          .threads = 2, .on_thread_start = boom, .on_thread_exit = boom, .on_error = count});
    } else {
      runner = std::make_unique<WorkStealingPool>(WorkStealingPool::Options{
          .workers = 2, .on_thread_start = boom, .on_thread_exit = boom, .on_error = count});
    }
    ASSERT_TRUE(runner->Run([&] { ran.fetch_add(1); }).ok());
    runner->ShutdownAndWait(ShutdownMode::kDrain);
    EXPECT_EQ(ran.load(), 1);
    EXPECT_EQ(errors.load(), 4);
  }
}

}  // namespace
}  // namespace jackdaw
