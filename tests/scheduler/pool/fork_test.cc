// grpc#31885: a child of a process with pools finds them dead, and does not hang on them.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/scheduler/pool/counted_task.h"

namespace jackdaw {
namespace {

// Runs `body` in a child and returns what it returned, 0 to 127.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// The number of the first promise that does not hold in a child; 0 if all do.
int Check(std::unique_ptr<Runner> runner) {
  CountedTask task;
  if (runner->Submit(&task)) return 1;
  if (runner->Run([] {}).code() != absl::StatusCode::kUnavailable) return 2;
  runner->Shutdown(ShutdownMode::kCancel);
  runner->ShutdownAndWait(ShutdownMode::kDrain);
  if (runner->task_count() < 0) return 3;
  runner.reset();
  return 0;
}

template <typename Pool>
void ExpectDeadInTheChildAndAliveInTheParent(typename Pool::Options options) {
  auto pool = std::make_unique<Pool>(std::move(options));
  // A task is running, and others are queued, while the process forks.
  absl::Notification running;
  absl::Notification release;
  std::atomic<int> ran{0};
  ASSERT_TRUE(pool->Run([&] {
                    running.Notify();
                    release.WaitForNotification();
                  })
                  .ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool->Run([&] { ran.fetch_add(1); }).ok());
  running.WaitForNotification();
  EXPECT_EQ(InChild([&] { return Check(std::move(pool)); }), 0);
  release.Notify();
  ASSERT_TRUE(pool->Run([&] { ran.fetch_add(1); }).ok());
  pool->ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(ran.load(), 11);
}

TEST(ForkTest, WorkStealingPoolIsDeadInTheChild) {
  for (int workers : {1, 2, 8}) {
    ExpectDeadInTheChildAndAliveInTheParent<WorkStealingPool>({.workers = workers});
  }
}

TEST(ForkTest, FifoPoolIsDeadInTheChild) {
  for (int threads : {1, 2, 8}) {
    ExpectDeadInTheChildAndAliveInTheParent<FifoPool>({.threads = threads});
  }
}

TEST(ForkTest, PoolWithoutWorkersGoesOnInTheChild) {
  WorkStealingPool pool({.workers = 0});
  EXPECT_EQ(InChild([&] {
              int ran = 0;
              if (!pool.Run([&] { ++ran; }).ok()) return 1;
              pool.RunUntilIdle();
              return ran == 1 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace jackdaw
