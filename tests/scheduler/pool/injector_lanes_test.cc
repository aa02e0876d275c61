#include "scheduler/pool/injector_lanes.h"

#include <array>
#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/scheduler/pool/counted_task.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;

std::vector<Task*> Take(InjectorLanes& lanes, std::size_t limit) {
  std::vector<Task*> out(limit);
  out.resize(lanes.TakeBatch(absl::MakeSpan(out), /*workers=*/1));
  return out;
}

TEST(InjectorLanesTest, HighGoesBeforeNormalBeforeLow) {
  InjectorLanes lanes;
  std::array<CountedTask, 6> tasks;
  ASSERT_TRUE(lanes.Push(&tasks[0], Priority::kLow));
  ASSERT_TRUE(lanes.Push(&tasks[1]));
  ASSERT_TRUE(lanes.Push(&tasks[2], Priority::kHigh));
  ASSERT_TRUE(lanes.Push(&tasks[3], Priority::kLow));
  ASSERT_TRUE(lanes.Push(&tasks[4]));
  ASSERT_TRUE(lanes.Push(&tasks[5], Priority::kHigh));
  EXPECT_EQ(lanes.SizeEstimate(), 6);
  EXPECT_TRUE(lanes.HasUrgent());
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[2], &tasks[5]));
  EXPECT_FALSE(lanes.HasUrgent());
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[1], &tasks[4]));
  // One at a time.
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[0]));
  EXPECT_TRUE(lanes.HasTask());
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[3]));
  EXPECT_FALSE(lanes.HasTask());
  EXPECT_EQ(lanes.injected(), 6);
}

TEST(InjectorLanesTest, EachLaneIsSeen) {
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
    InjectorLanes lanes;
    CountedTask task;
    EXPECT_FALSE(lanes.HasTask());
    ASSERT_TRUE(lanes.Push(&task, priority));
    EXPECT_TRUE(lanes.HasTask());
    EXPECT_EQ(lanes.SizeEstimate(), 1);
    EXPECT_EQ(lanes.HasUrgent(), priority == Priority::kHigh);
    EXPECT_THAT(Take(lanes, 32), ElementsAre(&task));
  }
}

// How many takes of one high task each it lasts until `waiting` comes, in a lane of its own.
int TakesUntil(Priority priority) {
  InjectorLanes lanes;
  CountedTask waiting;
  EXPECT_TRUE(lanes.Push(&waiting, priority));
  CountedTask high;
  for (int takes = 1;; ++takes) {
    EXPECT_TRUE(lanes.Push(&high, Priority::kHigh));
    if (Take(lanes, 1).at(0) == &waiting) return takes;
  }
}

TEST(InjectorLanesTest, NoLaneIsPassedOverForEver) {
  EXPECT_EQ(TakesUntil(Priority::kLow), InjectorLanes::kPatience + 1);
  EXPECT_EQ(TakesUntil(Priority::kNormal), InjectorLanes::kPatience + 1);
}

// Of the two that have waited too long the lower one first; neither waits much longer for it.
TEST(InjectorLanesTest, TwoLanesThatWaitBothGetTheirTurn) {
  InjectorLanes lanes;
  std::vector<CountedTask> tasks(100);
  CountedTask high;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_TRUE(lanes.Push(&tasks[i], i % 2 == 0 ? Priority::kLow : Priority::kNormal));
  }
  std::size_t low = 0;
  std::size_t normal = 0;
  const int takes = 10 * (InjectorLanes::kPatience + 2);
  for (int i = 0; i < takes; ++i) {
    ASSERT_TRUE(lanes.Push(&high, Priority::kHigh));
    const Task* task = Take(lanes, 1).at(0);
    if (low < 50 && task == &tasks[2 * low]) ++low;
    if (normal < 50 && task == &tasks[2 * normal + 1]) ++normal;
  }
  EXPECT_GE(low, 9u);
  EXPECT_GE(normal, 9u);
  EXPECT_LE(low + normal, 22u);
}

TEST(InjectorLanesTest, ClosedRefusesInEveryLaneButTakesThePoolsOwn) {
  InjectorLanes lanes;
  lanes.Close();
  std::array<CountedTask, 3> tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto priority = static_cast<Priority>(i);
    EXPECT_FALSE(lanes.Push(&tasks[i], priority));
    Task* task = &tasks[i];
    lanes.PushOverflow(absl::MakeConstSpan(&task, 1), priority);
  }
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[2]));
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[1]));
  EXPECT_THAT(Take(lanes, 32), ElementsAre(&tasks[0]));
  EXPECT_EQ(lanes.injected(), 0);
}

}  // namespace
}  // namespace jackdaw
