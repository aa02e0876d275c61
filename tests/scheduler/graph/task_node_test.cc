// The state machine of one task, and its two races on two threads.

#include "scheduler/graph/task_node.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Arrival = TaskNode::Arrival;

class TaskNodeTest : public testing::Test {
 protected:
  // Waits for `dependencies`.
  void SetUpNode(std::uint32_t dependencies) {
    node.SetUp(/*kind=*/5, dependencies, RunIf::kAllSucceeded);
  }
  // QUEUED, and RUNNING after Start().
  void Queue() {
    SetUpNode(1);
    ASSERT_EQ(node.DependencyEnded(TaskState::kSucceeded), Arrival::kReady);
  }

  TaskNode node;
};

TEST_F(TaskNodeTest, LastDependencyMakesItReady) {
  SetUpNode(2);
  EXPECT_EQ(node.state(), TaskState::kWaiting);
  EXPECT_EQ(node.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(node.DependencyEnded(TaskState::kSucceeded), Arrival::kReady);
  EXPECT_EQ(node.state(), TaskState::kQueued);
  EXPECT_EQ(node.kind(), 5u);
}

TEST_F(TaskNodeTest, RunIfDecidesByHowTheDependenciesEnded) {
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
    TaskNode one;
    one.SetUp(0, 2, c.run_if);
    EXPECT_EQ(one.DependencyEnded(c.one), Arrival::kNotYet);
    EXPECT_EQ(one.DependencyEnded(c.other), c.arrival);
  }
}

TEST_F(TaskNodeTest, HoldKeepsItBackUntilItIsReleased) {
  SetUpNode(1);
  node.Hold();
  EXPECT_EQ(node.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(node.ReleaseHold(), Arrival::kReady);
}

TEST_F(TaskNodeTest, CancelledTaskDoesNotBecomeReady) {
  SetUpNode(1);
  EXPECT_TRUE(node.Move(TaskState::kWaiting, TaskState::kCancelled));
  EXPECT_FALSE(node.Move(TaskState::kWaiting, TaskState::kCancelled));
  EXPECT_EQ(node.DependencyEnded(TaskState::kSucceeded), Arrival::kNotYet);
  EXPECT_EQ(node.state(), TaskState::kCancelled);
  EXPECT_FALSE(node.Start());
}

TEST_F(TaskNodeTest, AttemptsCountFromOne) {
  Queue();
  EXPECT_EQ(node.attempt(), 0);
  ASSERT_TRUE(node.Start());
  EXPECT_FALSE(node.Start());
  EXPECT_EQ(node.attempt(), 1);
  ASSERT_TRUE(node.EndToBackoff());
  EXPECT_EQ(node.state(), TaskState::kBackoff);
  ASSERT_TRUE(node.Move(TaskState::kBackoff, TaskState::kQueued));
  ASSERT_TRUE(node.Start());
  EXPECT_EQ(node.attempt(), 2);
  node.End(TaskState::kSucceeded);
  EXPECT_EQ(node.state(), TaskState::kSucceeded);
  EXPECT_EQ(node.attempt(), 2);
}

TEST_F(TaskNodeTest, FailureKeepsItsCode) {
  for (int code = 1; code <= 16; ++code) {
    TaskNode one;
    one.SetUp(0, 0, RunIf::kAllSucceeded);
    ASSERT_TRUE(one.Start());
    one.End(TaskState::kFailed, static_cast<absl::StatusCode>(code));
    EXPECT_EQ(one.state(), TaskState::kFailed);
    EXPECT_EQ(one.code(), static_cast<absl::StatusCode>(code));
    EXPECT_EQ(one.attempt(), 1);
  }
}

// The decrement that ends the last dependency makes a task QUEUED by itself, but not one for
// which it is still to be decided.
TEST_F(TaskNodeTest, TaskWithoutDependenciesIsQueuedUnlessItWantsAFailure) {
  TaskNode one;
  one.SetUp(0, 0, RunIf::kAllSucceeded);
  EXPECT_EQ(one.state(), TaskState::kQueued);
  one.SetUp(0, 0, RunIf::kAllDone);
  EXPECT_EQ(one.state(), TaskState::kQueued);
  one.SetUp(0, 0, RunIf::kAnyFailed);
  EXPECT_EQ(one.state(), TaskState::kWaiting);
  one.Hold();
  EXPECT_EQ(one.ReleaseHold(), Arrival::kSkipped);
  EXPECT_EQ(one.state(), TaskState::kSkipped);
}

TEST_F(TaskNodeTest, StoppedAttemptDoesNotGoToBackoff) {
  Queue();
  ASSERT_TRUE(node.Start());
  EXPECT_FALSE(node.stop_requested());
  EXPECT_EQ(node.RequestStop(), TaskState::kRunning);
  EXPECT_TRUE(node.cancel_requested());
  EXPECT_TRUE(node.ShouldStop(1));
  EXPECT_FALSE(node.EndToBackoff());
  EXPECT_EQ(node.state(), TaskState::kRunning);
  node.End(TaskState::kCancelled);
  EXPECT_EQ(node.state(), TaskState::kCancelled);
}

TEST_F(TaskNodeTest, TimeoutOfAnOlderAttemptIsRefused) {
  Queue();
  ASSERT_TRUE(node.Start());
  ASSERT_TRUE(node.EndToBackoff());
  ASSERT_TRUE(node.Move(TaskState::kBackoff, TaskState::kQueued));
  EXPECT_FALSE(node.RequestTimeout(1));
  ASSERT_TRUE(node.Start());
  EXPECT_FALSE(node.RequestTimeout(1));
  EXPECT_FALSE(node.Claim(1));
  EXPECT_TRUE(node.ShouldStop(1));
  EXPECT_FALSE(node.ShouldStop(2));
  EXPECT_TRUE(node.RequestTimeout(2));
  EXPECT_TRUE(node.timed_out());
  EXPECT_FALSE(node.cancel_requested());
}

TEST_F(TaskNodeTest, AttemptHasOneOwner) {
  Queue();
  ASSERT_TRUE(node.Start());
  EXPECT_TRUE(node.Claim(1));
  EXPECT_FALSE(node.Claim(1));
  EXPECT_TRUE(node.ShouldStop(1));
}

TEST_F(TaskNodeTest, QueuedTaskIsClaimedOnceAndThenDoesNotStart) {
  Queue();
  EXPECT_FALSE(node.ClaimQueued(1));
  EXPECT_TRUE(node.ClaimQueued(0));
  EXPECT_FALSE(node.ClaimQueued(0));
  EXPECT_FALSE(node.Start());
}

TEST_F(TaskNodeTest, TwoDependenciesAtOnceMakeItReadyOnce) {
  for (int round = 0; round < 2000; ++round) {
    TaskNode one;
    one.SetUp(0, 2, RunIf::kAllSucceeded);
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

TEST_F(TaskNodeTest, StopAndBackoffAtOnceSeeEachOther) {
  for (int round = 0; round < 2000; ++round) {
    TaskNode one;
    one.SetUp(0, 1, RunIf::kAllSucceeded);
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
