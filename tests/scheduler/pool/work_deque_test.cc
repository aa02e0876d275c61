// The deque by examples and by threads. What examples cannot show, the interleavings and
// the orders that this machine's memory never takes, is in tests/model.

#include "scheduler/pool/work_deque.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Outcome = Steal::Outcome;

// Does nothing: the deque never looks into a task.
class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
};

// Each test starts the indices at 0, across the edge of 32 bits, and across that of 31.
class WorkDequeTest : public testing::TestWithParam<std::int64_t> {
 protected:
  [[nodiscard]] static WorkDeque::Options Small() {
    return {.initial_capacity = 2, .max_capacity = 16, .first_index = GetParam()};
  }
  Item items_[64];
};
INSTANTIATE_TEST_SUITE_P(Indices, WorkDequeTest,
                         testing::Values(0, (std::int64_t{1} << 32) - 8,
                                         (std::int64_t{1} << 31) - 8));

TEST_P(WorkDequeTest, OwnerTakesTheNewestTask) {
  WorkDeque deque(Small());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(deque.PushBottom(&items_[i]));
  for (int i = 9; i >= 0; --i) EXPECT_EQ(deque.PopBottom(), &items_[i]);
  EXPECT_EQ(deque.PopBottom(), nullptr);
}

TEST_P(WorkDequeTest, ThiefTakesTheOldestTask) {
  WorkDeque deque(Small());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(deque.PushBottom(&items_[i]));
  for (int i = 0; i < 10; ++i) {
    const Steal steal = deque.StealTop();
    EXPECT_EQ(steal.outcome, Outcome::kTaken);
    EXPECT_EQ(steal.task, &items_[i]);
  }
  EXPECT_EQ(deque.StealTop().outcome, Outcome::kEmpty);
  EXPECT_EQ(deque.PopBottom(), nullptr);
}

TEST_P(WorkDequeTest, EmptyDequeGivesNothingAndStaysUsable) {
  WorkDeque deque(Small());
  for (int round = 0; round < 40; ++round) {
    EXPECT_EQ(deque.PopBottom(), nullptr);
    EXPECT_EQ(deque.StealTop().outcome, Outcome::kEmpty);
    EXPECT_FALSE(deque.HasTask());
    ASSERT_TRUE(deque.PushBottom(&items_[0]));
    EXPECT_TRUE(deque.HasTask());
    EXPECT_EQ(deque.PopBottom(), &items_[0]);
  }
}

TEST_P(WorkDequeTest, FullDequeRefusesUntilThereIsRoom) {
  WorkDeque deque(Small());
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(deque.PushBottom(&items_[i]));
  EXPECT_FALSE(deque.PushBottom(&items_[16]));
  EXPECT_EQ(deque.SizeEstimate(), 16);
  EXPECT_EQ(deque.StealTop().task, &items_[0]);
  EXPECT_TRUE(deque.PushBottom(&items_[16]));
  EXPECT_FALSE(deque.PushBottom(&items_[17]));
  EXPECT_EQ(deque.PopBottom(), &items_[16]);
}

TEST_P(WorkDequeTest, SizeAndCapacityAreExactAtRest) {
  WorkDeque deque(Small());
  EXPECT_EQ(deque.CapacityEstimate(), 2);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(deque.PushBottom(&items_[i]));
  EXPECT_EQ(deque.SizeEstimate(), 5);
  EXPECT_EQ(deque.CapacityEstimate(), 8);
  (void)deque.StealTop();
  (void)deque.PopBottom();
  EXPECT_EQ(deque.SizeEstimate(), 3);
}

// The ring wraps many times without growing when thieves keep up.
TEST_P(WorkDequeTest, SlotsAreUsedAgainWithoutGrowing) {
  WorkDeque deque(Small());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(deque.PushBottom(&items_[i % 64]));
    EXPECT_EQ(deque.StealTop().task, &items_[i % 64]);
  }
  EXPECT_EQ(deque.CapacityEstimate(), 2);
}

// tokio#2387, crossbeam#726: a ring that is replaced between a thief's read and its claim
// made one task run twice and lost another.
TEST_P(WorkDequeTest, GrowthUnderTheftGivesEachTaskOnce) {
  constexpr std::size_t kTasks = 20'000;
  constexpr int kThieves = 4;
  std::vector<Item> tasks(kTasks);
  std::vector<std::atomic<int>> taken(kTasks);
  const auto take = [&](Task* task) {
    taken[static_cast<std::size_t>(static_cast<Item*>(task) - tasks.data())].fetch_add(1);
  };
  // A fresh deque for each burst, so that growth happens again and again.
  for (std::size_t first = 0; first < kTasks; first += 200) {
    WorkDeque deque({.initial_capacity = 2, .max_capacity = 256, .first_index = GetParam()});
    std::atomic<bool> stop{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < (first % 2000 == 0 ? kThieves : 1); ++i) {
      thieves.emplace_back([&] {
        while (!stop.load()) {
          const Steal steal = deque.StealTop();
          if (steal.outcome == Outcome::kTaken) take(steal.task);
        }
      });
    }
    for (std::size_t i = first; i < first + 200; ++i) {
      ASSERT_TRUE(deque.PushBottom(&tasks[i]));
      Task* task = i % 3 == 0 ? deque.PopBottom() : nullptr;
      if (task != nullptr) take(task);
    }
    while (Task* task = deque.PopBottom()) take(task);
    stop.store(true);
    for (std::thread& thief : thieves) thief.join();
  }
  EXPECT_THAT(taken, testing::Each(testing::ResultOf([](auto& n) { return n.load(); }, 1)));
}

}  // namespace
}  // namespace jackdaw
