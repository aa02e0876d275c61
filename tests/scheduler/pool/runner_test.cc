// The Runner interface, through a runner that a user could have written.

#include "scheduler/pool/runner.h"

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

// Runs tasks on the caller, in their order, when Turn() is called: a main loop, say.
class MainLoop final : public Runner {
 public:
  ~MainLoop() override { ShutdownAndWait(ShutdownMode::kDrain); }
  [[nodiscard]] bool Submit(Task* task) override {
    if (stopped_) return false;
    queue_.push_back(task);
    return true;
  }
  [[nodiscard]] absl::string_view name() const override { return "main loop"; }
  [[nodiscard]] int size() const override { return 0; }
  [[nodiscard]] std::int64_t task_count() const override {
    return static_cast<std::int64_t>(queue_.size());
  }
  void Shutdown(ShutdownMode mode) override {
    while (!queue_.empty()) {
      if (mode == ShutdownMode::kDrain) {
        Turn();
      } else {
        queue_.front()->Drop();
        queue_.pop_front();
      }
    }
    stopped_ = true;
  }
  void ShutdownAndWait(ShutdownMode mode) override { Shutdown(mode); }
  void Turn() {
    Task* task = queue_.front();
    queue_.pop_front();
    const AsCurrent scope(this);
    task->Run();
  }

 private:
  std::deque<Task*> queue_;
  bool stopped_ = false;
};

TEST(RunnerTest, UsersOwnKindRunsClosures) {
  MainLoop loop;
  std::vector<std::string> log;
  ASSERT_TRUE(loop.Run([&] {
                    log.emplace_back("first");
                    EXPECT_EQ(Runner::Current(), &loop);
                    ASSERT_TRUE(Runner::Current()->Run([&] { log.emplace_back("third"); }).ok());
                  })
                  .ok());
  ASSERT_TRUE(loop.Run([&] { log.emplace_back("second"); }).ok());
  EXPECT_EQ(loop.task_count(), 2);
  EXPECT_EQ(Runner::Current(), nullptr);
  loop.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_THAT(log, testing::ElementsAre("first", "second", "third"));
}

TEST(RunnerTest, RunAfterShutdownSaysWhichRunner) {
  MainLoop loop;
  loop.Shutdown(ShutdownMode::kCancel);
  EXPECT_EQ(loop.Run([] {}), absl::UnavailableError("runner 'main loop' has been shut down"));
}

TEST(RunnerTest, CurrentIsTheInnermost) {
  MainLoop loop;
  WorkStealingPool pool({.workers = 0});
  bool ran = false;
  ASSERT_TRUE(loop.Run([&] {
                    ASSERT_TRUE(pool.Run([&] {
                                      EXPECT_EQ(Runner::Current(), &pool);
                                      ran = true;
                                    })
                                    .ok());
                    EXPECT_TRUE(pool.RunOne());
                    EXPECT_EQ(Runner::Current(), &loop);
                  })
                  .ok());
  loop.Turn();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace jackdaw
