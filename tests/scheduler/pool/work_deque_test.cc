// Both deques by the same examples and by threads. What examples cannot show, the interleavings and
// the orders that this machine's memory never takes, is in tests/model.

#include "scheduler/pool/work_deque.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/split_deque.h"

namespace jackdaw {
namespace {

using Outcome = Steal::Outcome;

// Does nothing: the deque never looks into a task.
class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
};

// A deque whose indices start somewhere.
template <typename D, std::int64_t kFirst>
struct Kind {
  using Deque = D;
  static constexpr std::int64_t kFirstIndex = kFirst;
};

// The two policies, each from 0, across the edge of 32 bits, and across that of 31.
using Kinds = testing::Types<Kind<WorkDeque, 0>, Kind<WorkDeque, (std::int64_t{1} << 32) - 8>,
                             Kind<WorkDeque, (std::int64_t{1} << 31) - 8>, Kind<SplitDeque, 0>,
                             Kind<SplitDeque, (std::int64_t{1} << 32) - 8>,
                             Kind<SplitDeque, (std::int64_t{1} << 31) - 8>>;

struct KindName {
  template <typename K>
  static std::string GetName(int) {
    return absl::StrCat(K::Deque::kHasPrivatePart ? "Split" : "Work", "From", K::kFirstIndex);
  }
};

template <typename K>
class DequeTest : public testing::Test {
 protected:
  using Deque = typename K::Deque;
  [[nodiscard]] static typename Deque::Options Small() {
    return {.initial_capacity = 2, .max_capacity = 16, .first_index = K::kFirstIndex};
  }
  // What a thief gets, once the owner has answered: a split deque shares nothing unasked.
  [[nodiscard]] static Steal StealTop(Deque& deque) {
    const Steal steal = deque.StealTop();
    return steal.outcome == Outcome::kEmpty && deque.ShareIfAsked() ? deque.StealTop() : steal;
  }
  [[nodiscard]] static bool HasTask(Deque& deque) {
    return deque.HasTask() || (deque.ShareIfAsked() && deque.HasTask());
  }
  Item items_[64];
};
TYPED_TEST_SUITE(DequeTest, Kinds, KindName);

TYPED_TEST(DequeTest, OwnerTakesTheNewestTask) {
  typename TestFixture::Deque deque(this->Small());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(deque.PushBottom(&this->items_[i]));
  for (int i = 9; i >= 0; --i) EXPECT_EQ(deque.PopBottom(), &this->items_[i]);
  EXPECT_EQ(deque.PopBottom(), nullptr);
}

TYPED_TEST(DequeTest, ThiefTakesTheOldestTask) {
  typename TestFixture::Deque deque(this->Small());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(deque.PushBottom(&this->items_[i]));
  for (int i = 0; i < 10; ++i) {
    const Steal steal = this->StealTop(deque);
    EXPECT_EQ(steal.outcome, Outcome::kTaken);
    EXPECT_EQ(steal.task, &this->items_[i]);
  }
  EXPECT_EQ(this->StealTop(deque).outcome, Outcome::kEmpty);
  EXPECT_EQ(deque.PopBottom(), nullptr);
}

TYPED_TEST(DequeTest, EmptyDequeGivesNothingAndStaysUsable) {
  typename TestFixture::Deque deque(this->Small());
  for (int round = 0; round < 40; ++round) {
    EXPECT_EQ(deque.PopBottom(), nullptr);
    EXPECT_EQ(this->StealTop(deque).outcome, Outcome::kEmpty);
    EXPECT_FALSE(this->HasTask(deque));
    ASSERT_TRUE(deque.PushBottom(&this->items_[0]));
    EXPECT_TRUE(this->HasTask(deque));
    EXPECT_EQ(deque.PopBottom(), &this->items_[0]);
  }
}

TYPED_TEST(DequeTest, FullDequeRefusesUntilThereIsRoom) {
  typename TestFixture::Deque deque(this->Small());
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(deque.PushBottom(&this->items_[i]));
  EXPECT_FALSE(deque.PushBottom(&this->items_[16]));
  EXPECT_EQ(deque.SizeEstimate(), 16);
  EXPECT_EQ(this->StealTop(deque).task, &this->items_[0]);
  EXPECT_TRUE(deque.PushBottom(&this->items_[16]));
  EXPECT_FALSE(deque.PushBottom(&this->items_[17]));
  EXPECT_EQ(deque.PopBottom(), &this->items_[16]);
}

TYPED_TEST(DequeTest, SizeAndCapacityAreExactAtRest) {
  typename TestFixture::Deque deque(this->Small());
  EXPECT_EQ(deque.CapacityEstimate(), 2);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(deque.PushBottom(&this->items_[i]));
  EXPECT_EQ(deque.SizeEstimate(), 5);
  EXPECT_EQ(deque.CapacityEstimate(), 8);
  (void)this->StealTop(deque);
  (void)deque.PopBottom();
  EXPECT_EQ(deque.SizeEstimate(), 3);
}

// The ring wraps many times without growing when thieves keep up.
TYPED_TEST(DequeTest, SlotsAreUsedAgainWithoutGrowing) {
  typename TestFixture::Deque deque(this->Small());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(deque.PushBottom(&this->items_[i % 64]));
    EXPECT_EQ(this->StealTop(deque).task, &this->items_[i % 64]);
  }
  EXPECT_EQ(deque.CapacityEstimate(), 2);
}

// tokio#2387, crossbeam#726: a ring that is replaced between a thief's read and its claim
// made one task run twice and lost another.
TYPED_TEST(DequeTest, GrowthUnderTheftGivesEachTaskOnce) {
  constexpr std::size_t kTasks = 20'000;
  constexpr int kThieves = 4;
  std::vector<Item> tasks(kTasks);
  std::vector<std::atomic<int>> taken(kTasks);
  const auto take = [&](Task* task) {
    taken[static_cast<std::size_t>(static_cast<Item*>(task) - tasks.data())].fetch_add(1);
  };
  // A fresh deque for each burst, so that growth happens again and again.
  for (std::size_t first = 0; first < kTasks; first += 200) {
    typename TestFixture::Deque deque(
        {.initial_capacity = 2, .max_capacity = 256, .first_index = TypeParam::kFirstIndex});
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
      (void)deque.ShareIfAsked();
      Task* task = i % 3 == 0 ? deque.PopBottom() : nullptr;
      if (task != nullptr) take(task);
    }
    while (Task* task = deque.PopBottom()) {
      take(task);
      (void)deque.ShareIfAsked();
    }
    stop.store(true);
    for (std::thread& thief : thieves) thief.join();
  }
  EXPECT_THAT(taken, testing::Each(testing::ResultOf([](auto& n) { return n.load(); }, 1)));
}

}  // namespace
}  // namespace jackdaw
