// The state machine of one task, and its two races on two threads.

#include "scheduler/graph/task_cell.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Arrival = TaskCell::Arrival;

class TaskCellTest : public testing::Test {
 protected:
  // Waits for `dependencies`; `run_if` decides.
  void SetUpCell(std::uint32_t dependencies, RunIf run_if = RunIf::kAllSucceeded) {
    kind.policy.run_if = run_if;
    cell.SetUp(&kind, /*index=*/5, /*first_edge=*/0, dependencies, Bytes("payload"));
  }
  // QUEUED, and RUNNING after Start().
  void Queue() {
    SetUpCell(1);
    ASSERT_EQ(cell.DependencyEnded(TaskState::kSucceeded), Arrival::kReady);
  }

  TaskKind kind;
  TaskCell cell;
};

TEST_F(TaskCellTest, LastDependencyMakesItReady) {
  SetUpCell(2);
  EXPECT_EQ(cell.state(), TaskState::kWaiting);
  EXPECT_EQ(cell.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(cell.DependencyEnded(TaskState::kSucceeded), Arrival::kReady);
  EXPECT_EQ(cell.state(), TaskState::kQueued);
  EXPECT_EQ(cell.payload().view(), "payload");
}

TEST_F(TaskCellTest, RunIfDecidesByHowTheDependenciesEnded) {
  const struct {
    RunIf run_if;
    TaskState one;
    TaskState other;
    Arrival arrival;
  } cases[] = {
      {RunIf::kAllSucceeded, TaskState::kFailed, TaskState::kSucceeded, Arrival::kSkipped},
      {RunIf::kAllSucceeded, TaskState::kSkipped, TaskState::kSucceeded, Arrival::kSkipped},
      {RunIf::kAllDone, TaskState::kFailed, TaskState::kSkipped, Arrival::kReady},
      {RunIf::kAnyFailed, TaskState::kFailed, TaskState::kSucceeded, Arrival::kReady},
      {RunIf::kAnyFailed, TaskState::kSkipped, TaskState::kSucceeded, Arrival::kSkipped},
      {RunIf::kAnyFailed, TaskState::kCancelled, TaskState::kSkipped, Arrival::kSkipped},
  };
  for (const auto& c : cases) {
    TaskCell one;
    kind.policy.run_if = c.run_if;
    one.SetUp(&kind, 0, 0, 2, Bytes());
    EXPECT_EQ(one.DependencyEnded(c.one), Arrival::kNotYet);
    EXPECT_EQ(one.DependencyEnded(c.other), c.arrival);
  }
}

TEST_F(TaskCellTest, HoldKeepsItBackUntilItIsReleased) {
  SetUpCell(1);
  cell.Hold();
  EXPECT_EQ(cell.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(cell.ReleaseHold(), Arrival::kReady);
}

TEST_F(TaskCellTest, CancelledTaskDoesNotBecomeReady) {
  SetUpCell(1);
  EXPECT_TRUE(cell.Move(TaskState::kWaiting, TaskState::kCancelled));
  EXPECT_FALSE(cell.Move(TaskState::kWaiting, TaskState::kCancelled));
  EXPECT_EQ(cell.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(cell.state(), TaskState::kCancelled);
  EXPECT_FALSE(cell.Start());
}

TEST_F(TaskCellTest, AttemptsCountFromOneAndKeepTheirOutput) {
  Queue();
  EXPECT_EQ(cell.attempt(), 0);
  ASSERT_TRUE(cell.Start());
  EXPECT_FALSE(cell.Start());
  EXPECT_EQ(cell.attempt(), 1);
  ASSERT_TRUE(cell.EndToBackoff());
  EXPECT_EQ(cell.state(), TaskState::kBackoff);
  ASSERT_TRUE(cell.Move(TaskState::kBackoff, TaskState::kQueued));
  ASSERT_TRUE(cell.Start());
  EXPECT_EQ(cell.attempt(), 2);
  cell.EndSucceeded(Bytes("out"));
  EXPECT_EQ(cell.state(), TaskState::kSucceeded);
  EXPECT_EQ(cell.output().view(), "out");
}

TEST_F(TaskCellTest, FailureKeepsItsStatus) {
  Queue();
  ASSERT_TRUE(cell.Start());
  cell.EndFailed(absl::InternalError("a message long enough that it lies on the heap"));
  EXPECT_EQ(cell.state(), TaskState::kFailed);
  EXPECT_EQ(cell.status().code(), absl::StatusCode::kInternal);
}

TEST_F(TaskCellTest, StoppedAttemptDoesNotGoToBackoff) {
  Queue();
  ASSERT_TRUE(cell.Start());
  EXPECT_FALSE(cell.stop_requested());
  EXPECT_EQ(cell.RequestStop(), TaskState::kRunning);
  EXPECT_TRUE(cell.cancel_requested());
  EXPECT_TRUE(cell.ShouldStop(1));
  EXPECT_FALSE(cell.EndToBackoff());
  EXPECT_EQ(cell.state(), TaskState::kRunning);
  cell.EndCancelled();
  EXPECT_EQ(cell.state(), TaskState::kCancelled);
}

TEST_F(TaskCellTest, TimeoutOfAnOlderAttemptIsRefused) {
  Queue();
  ASSERT_TRUE(cell.Start());
  ASSERT_TRUE(cell.EndToBackoff());
  ASSERT_TRUE(cell.Move(TaskState::kBackoff, TaskState::kQueued));
  EXPECT_FALSE(cell.RequestTimeout(1));
  ASSERT_TRUE(cell.Start());
  EXPECT_FALSE(cell.RequestTimeout(1));
  EXPECT_FALSE(cell.Claim(1));
  EXPECT_TRUE(cell.ShouldStop(1));
  EXPECT_FALSE(cell.ShouldStop(2));
  EXPECT_TRUE(cell.RequestTimeout(2));
  EXPECT_TRUE(cell.timed_out());
  EXPECT_FALSE(cell.cancel_requested());
}

TEST_F(TaskCellTest, AttemptHasOneOwner) {
  Queue();
  ASSERT_TRUE(cell.Start());
  EXPECT_TRUE(cell.Claim(1));
  EXPECT_FALSE(cell.Claim(1));
  EXPECT_TRUE(cell.ShouldStop(1));
}

TEST_F(TaskCellTest, QueuedTaskIsClaimedOnceAndThenDoesNotStart) {
  Queue();
  EXPECT_FALSE(cell.ClaimQueued(1));
  EXPECT_TRUE(cell.ClaimQueued(0));
  EXPECT_FALSE(cell.ClaimQueued(0));
  EXPECT_FALSE(cell.Start());
}

TEST_F(TaskCellTest, TwoDependenciesAtOnceMakeItReadyOnce) {
  for (int round = 0; round < 2000; ++round) {
    TaskCell one;
    one.SetUp(&kind, 0, 0, 2, Bytes());
    std::atomic<int> ready{0};
    const auto end = [&] {
      if (one.DependencyEnded(TaskState::kSucceeded) == Arrival::kReady) ++ready;
    };
    std::thread other(end);
    end();
    other.join();
    ASSERT_EQ(ready, 1);
  }
}

TEST_F(TaskCellTest, StopAndBackoffAtOnceSeeEachOther) {
  for (int round = 0; round < 2000; ++round) {
    TaskCell one;
    one.SetUp(&kind, 0, 0, 1, Bytes());
    ASSERT_EQ(one.DependencyEnded(TaskState::kSucceeded), Arrival::kReady);
    ASSERT_TRUE(one.Start());
    TaskState found = TaskState::kWaiting;
    std::thread other([&] { found = one.RequestStop(); });
    const bool aside = one.EndToBackoff();
    other.join();
    ASSERT_EQ(found, aside ? TaskState::kBackoff : TaskState::kRunning);
  }
}

}  // namespace
}  // namespace jackdaw
