// What the split deque does that the other does not: when a task can be seen, and by whom. What
// both do is in work_deque_test.cc, the interleavings in tests/model.

#include "scheduler/pool/split_deque.h"

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Outcome = Steal::Outcome;

// Does nothing: the deque never looks into a task.
class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
};

class SplitDequeTest : public testing::Test {
 protected:
  void Push(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(deque_.PushBottom(&items_[pushed_++]));
  }
  Item items_[16];
  int pushed_ = 0;
  SplitDeque deque_{{.initial_capacity = 2, .max_capacity = 16}};
};

TEST_F(SplitDequeTest, WhatIsPushedIsPrivateUntilTheOwnerAnswers) {
  Push(3);
  EXPECT_FALSE(deque_.HasTask());
  EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
  EXPECT_EQ(deque_.SizeEstimate(), 3);
  EXPECT_TRUE(deque_.ShareIfAsked());
  EXPECT_TRUE(deque_.HasTask());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(deque_.StealTop().task, &items_[i]);
  EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
}

TEST_F(SplitDequeTest, OwnerSharesNothingUnasked) {
  Push(3);
  EXPECT_FALSE(deque_.ShareIfAsked());
  EXPECT_FALSE(deque_.HasTask());
}

TEST_F(SplitDequeTest, OneAnswerSettlesAllQuestionsBeforeIt) {
  Push(2);
  (void)deque_.StealTop();
  EXPECT_FALSE(deque_.HasTask());
  EXPECT_TRUE(deque_.ShareIfAsked());
  EXPECT_FALSE(deque_.ShareIfAsked());
  Push(1);
  EXPECT_FALSE(deque_.ShareIfAsked());
  EXPECT_EQ(deque_.StealTop().task, &items_[0]);
  EXPECT_EQ(deque_.StealTop().task, &items_[1]);
  EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
  EXPECT_TRUE(deque_.ShareIfAsked());
  EXPECT_EQ(deque_.StealTop().task, &items_[2]);
}

// A worker parks while the deque is empty; the first push must find its question.
TEST_F(SplitDequeTest, QuestionToAnEmptyDequeStaysUntilThereIsATask) {
  EXPECT_FALSE(deque_.HasTask());
  EXPECT_FALSE(deque_.ShareIfAsked());
  EXPECT_EQ(deque_.PopBottom(), nullptr);
  EXPECT_FALSE(deque_.ShareIfAsked());
  Push(1);
  EXPECT_TRUE(deque_.ShareIfAsked());
  EXPECT_EQ(deque_.StealTop().task, &items_[0]);
}

TEST_F(SplitDequeTest, ShareAllNeedsNoQuestionAndATask) {
  EXPECT_FALSE(deque_.ShareAll());
  Push(2);
  EXPECT_TRUE(deque_.ShareAll());
  EXPECT_EQ(deque_.StealTop().task, &items_[0]);
  EXPECT_EQ(deque_.PopBottom(), &items_[1]);
  EXPECT_FALSE(deque_.ShareAll());
}

// Who was woken for what is shared must find it, also when the owner was there first.
TEST_F(SplitDequeTest, OwnerTakesBackOneAndLeavesTheOthersShared) {
  Push(8);
  ASSERT_TRUE(deque_.ShareAll());
  EXPECT_EQ(deque_.PopBottom(), &items_[7]);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(deque_.StealTop().task, &items_[i]);
  EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
  EXPECT_EQ(deque_.PopBottom(), nullptr);
}

TEST_F(SplitDequeTest, OwnerTakesBackEveryLastSharedTask) {
  for (int count = 1; count <= 4; ++count) {
    const int first = pushed_;
    Push(count);
    ASSERT_TRUE(deque_.ShareAll());
    for (int i = pushed_ - 1; i >= first; --i) EXPECT_EQ(deque_.PopBottom(), &items_[i]);
    EXPECT_EQ(deque_.PopBottom(), nullptr);
    EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
  }
}

TEST_F(SplitDequeTest, PrivateTasksArePoppedBeforeSharedOnes) {
  Push(2);
  ASSERT_TRUE(deque_.ShareAll());
  Push(2);
  EXPECT_EQ(deque_.PopBottom(), &items_[3]);
  EXPECT_EQ(deque_.StealTop().task, &items_[0]);
  EXPECT_EQ(deque_.PopBottom(), &items_[2]);
  EXPECT_EQ(deque_.PopBottom(), &items_[1]);
  EXPECT_EQ(deque_.PopBottom(), nullptr);
}

TEST_F(SplitDequeTest, GrowthKeepsBothParts) {
  Push(2);
  ASSERT_TRUE(deque_.ShareAll());
  Push(7);
  EXPECT_EQ(deque_.CapacityEstimate(), 16);
  EXPECT_EQ(deque_.StealTop().task, &items_[0]);
  EXPECT_EQ(deque_.StealTop().task, &items_[1]);
  EXPECT_EQ(deque_.StealTop().outcome, Outcome::kEmpty);
  for (int i = 8; i >= 2; --i) EXPECT_EQ(deque_.PopBottom(), &items_[i]);
}

}  // namespace
}  // namespace jackdaw
