// Priorities of a pool's tasks: what goes first, and that nothing waits for ever. The bounds are
// counted in tasks, on a pool that the test drives, whose order is always the same.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/injector_lanes.h"
#include "scheduler/pool/work_source.h"
#include "tests/scheduler/pool/counted_task.h"
#include "tests/scheduler/pool/pool_fixture.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;

class PoolPriorityTest : public PoolTestBase {};
INSTANTIATE_TEST_SUITE_P(, PoolPriorityTest, testing::Values(0, 1, 2, 8), WorkerCountName);

TEST_P(PoolPriorityTest, EachTaskRunsOnceWhateverItsPriority) {
  WorkStealingPool pool(Options());
  std::atomic<int> ran{0};
  constexpr int kTasks = 900;
  for (int i = 0; i < kTasks; ++i) {
    const auto priority = static_cast<Priority>(i % 3);
    ASSERT_TRUE(pool.Run(
                        [&, priority] {
                          ran.fetch_add(1);
                          EXPECT_TRUE(pool.Run([&] { ran.fetch_add(1); }, priority).ok());
                        },
                        priority)
                    .ok());
  }
  RunUntil(pool, [&] { return ran.load() == 2 * kTasks; });
  AwaitParked(pool);
  EXPECT_EQ(pool.stats().injected, kTasks);
  ExpectExactCounters(pool);
}

TEST_P(PoolPriorityTest, HighRunsBeforeNormalBeforeLow) {
  if (GetParam() > 1) return;  // They would run side by side.
  WorkStealingPool pool(Options());
  absl::Notification queued;
  std::vector<std::string> order;
  // Holds a worker while the others are queued.
  Go(pool, [&] {
    if (pool.size() != 0) queued.WaitForNotification();
  });
  const auto add = [&](const std::string& name, Priority priority) {
    ASSERT_TRUE(pool.Run([&order, name] { order.push_back(name); }, priority).ok());
  };
  add("low", Priority::kLow);
  add("normal", Priority::kNormal);
  add("high", Priority::kHigh);
  add("second low", Priority::kLow);
  add("second high", Priority::kHigh);
  queued.Notify();
  RunUntil(pool, [&] { return pool.task_count() == 0; });
  AwaitParked(pool);
  EXPECT_THAT(order, ElementsAre("high", "second high", "normal", "low", "second low"));
}

TEST_P(PoolPriorityTest, HighGoesBeforeWhatAWorkerHasOfItsOwn) {
  if (GetParam() > 1) return;
  WorkStealingPool pool(Options());
  std::vector<std::string> order;
  Go(pool, [&] {
    Spawn([&] { order.push_back("own"); });
    EXPECT_TRUE(pool.Run([&] { order.push_back("low"); }, Priority::kLow).ok());
    EXPECT_TRUE(pool.Run([&] { order.push_back("high"); }, Priority::kHigh).ok());
  });
  RunUntil(pool, [&] { return pool.task_count() == 0; });
  AwaitParked(pool);
  EXPECT_THAT(order, ElementsAre("high", "own", "low"));
}

TEST_P(PoolPriorityTest, ShutdownDrainsAndRefusesEveryPriority) {
  for (const ShutdownMode mode : {ShutdownMode::kDrain, ShutdownMode::kCancel}) {
    WorkStealingPool pool(Options());
    std::vector<CountedTask> tasks(99);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_TRUE(pool.Submit(&tasks[i], static_cast<Priority>(i % 3)));
    }
    pool.ShutdownAndWait(mode);
    for (const CountedTask& task : tasks) {
      ASSERT_EQ(task.runs() + task.drops(), 1);
      ASSERT_TRUE(mode == ShutdownMode::kCancel || task.runs() == 1);
    }
    CountedTask late;
    for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
      EXPECT_FALSE(pool.Submit(&late, priority));
      EXPECT_FALSE(pool.Run([] {}, priority).ok());
    }
  }
}

// ---- nothing waits for ever ----

// A pool that the test drives, in which a task of some kind is always queued: it makes the next
// one.
class StarvationTest : public testing::Test {
 protected:
  // `push` queues what it is given.
  using Push = std::function<void(std::function<void()>)>;

  Push With(Priority priority) {
    return [this, priority](std::function<void()> body) {
      EXPECT_TRUE(pool_.Run(std::move(body), priority).ok());
    };
  }

  void ForEver(Push push) {
    push([this, push] {
      if (!over_) ForEver(push);
    });
  }

  // How many tasks run until `waiting`, which is queued by `push`, has.
  int TasksUntil(const Push& push) {
    bool ran = false;
    push([&ran] { ran = true; });
    int tasks = 0;
    while (!ran) {
      EXPECT_TRUE(pool_.RunOne());
      ++tasks;
    }
    over_ = true;
    pool_.RunUntilIdle();
    over_ = false;
    return tasks;
  }

  // From inside of a task of the pool: on its deque, or behind all.
  Push FromATask(void (WorkerContext::*push)(Task*)) {
    return [this, push](std::function<void()> body) {
      if (WorkerContext::Current() != nullptr) {
        return (WorkerContext::Current()->*push)(MakeTask(std::move(body)));
      }
      Go(pool_,
         [push, body = std::move(body)] { (WorkerContext::Current()->*push)(MakeTask(body)); });
      EXPECT_TRUE(pool_.RunOne());
    };
  }

  WorkStealingPool pool_{{.workers = 0}};
  bool over_ = false;
};

constexpr int kFairTurns = 61;  // As worker.cc has it.

TEST_F(StarvationTest, LowAndNormalRunWhileHighGoesOnForEver) {
  for (const Priority priority : {Priority::kLow, Priority::kNormal}) {
    ForEver(With(Priority::kHigh));
    EXPECT_LE(TasksUntil(With(priority)), InjectorLanes::kPatience + 2);
  }
}

TEST_F(StarvationTest, LowRunsWhileNormalGoesOnForEver) {
  ForEver(FromATask(&WorkerContext::PushBehind));
  EXPECT_LE(TasksUntil(With(Priority::kLow)), InjectorLanes::kPatience + 2);
}

TEST_F(StarvationTest, LowRunsWhileAWorkersOwnTasksGoOnForEver) {
  ForEver(FromATask(&WorkerContext::Push));
  EXPECT_LE(TasksUntil(With(Priority::kLow)), kFairTurns + 1);
}

TEST_F(StarvationTest, AWorkersOwnTasksRunWhileHighGoesOnForEver) {
  for (int i = 0; i < 3; ++i) {
    ForEver(With(Priority::kHigh));
    EXPECT_LE(TasksUntil(FromATask(&WorkerContext::Push)), kFairTurns + 1);
  }
}

TEST_F(StarvationTest, MailIsReadWhileHighGoesOnForEver) {
  ForEver(With(Priority::kHigh));
  EXPECT_LE(TasksUntil([this](std::function<void()> body) {
              EXPECT_TRUE(pool_.RunOn(0, std::move(body)).ok());
            }),
            kFairTurns + 1);
}

// Ready tasks of the job engine, say.
class OneTaskSource final : public WorkSource {
 public:
  explicit OneTaskSource(Task* task) : task_(task) {}
  [[nodiscard]] std::size_t Take(absl::Span<Task*> out) override {
    if (task_ == nullptr) return 0;
    out[0] = std::exchange(task_, nullptr);
    return 1;
  }
  [[nodiscard]] bool HasWork() const override { return task_ != nullptr; }

 private:
  Task* task_;
};

TEST_F(StarvationTest, SourceIsAskedWhileTheInjectorIsNeverEmpty) {
  for (const Priority priority : {Priority::kNormal, Priority::kHigh}) {
    ForEver(priority == Priority::kHigh ? With(priority) : FromATask(&WorkerContext::PushBehind));
    CountedTask task;
    OneTaskSource source(&task);
    pool_.AttachSource(&source);
    int tasks = 0;
    for (; task.runs() == 0 && tasks < 1000; ++tasks) EXPECT_TRUE(pool_.RunOne());
    EXPECT_LE(tasks, 2 * kFairTurns + 1);
    pool_.DetachSource();
    over_ = true;
    pool_.RunUntilIdle();
    over_ = false;
  }
}

}  // namespace
}  // namespace jackdaw
