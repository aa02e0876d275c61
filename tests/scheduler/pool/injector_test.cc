#include "scheduler/pool/injector.h"

#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jackdaw {
namespace {

class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
};

std::vector<Task*> Take(Injector& injector, std::size_t limit, int workers) {
  std::vector<Task*> out(limit);
  out.resize(injector.TakeBatch(absl::MakeSpan(out), workers));
  return out;
}

TEST(InjectorTest, GivesTasksInTheirOrder) {
  Injector injector;
  std::vector<Item> items(300);
  for (Item& item : items) ASSERT_TRUE(injector.Push(&item));
  EXPECT_EQ(injector.SizeEstimate(), 300);
  std::size_t next = 0;
  while (injector.HasTask()) {
    for (Task* task : Take(injector, 32, 1)) ASSERT_EQ(task, &items[next++]);
  }
  EXPECT_EQ(next, 300u);
  EXPECT_EQ(injector.injected(), 300);
}

TEST(InjectorTest, BatchIsAFairShareUpToALimit) {
  Injector injector;
  std::vector<Item> items(100);
  for (Item& item : items) ASSERT_TRUE(injector.Push(&item));
  EXPECT_EQ(Take(injector, 64, 10).size(), 11u);  // Of 100: a tenth, and one.
  EXPECT_EQ(Take(injector, 64, 1).size(), Injector::kMaxBatch);
  EXPECT_EQ(Take(injector, 5, 1).size(), 5u);
  EXPECT_EQ(Take(injector, 64, 1000).size(), 1u);
}

TEST(InjectorTest, EmptyGivesNothing) {
  Injector injector;
  EXPECT_FALSE(injector.HasTask());
  EXPECT_TRUE(Take(injector, 32, 1).empty());
}

TEST(InjectorTest, ClosedRefusesWorkFromOutsideButNotTheWorkersOwn) {
  Injector injector;
  Item accepted;
  Item refused;
  Item overflow;
  ASSERT_TRUE(injector.Push(&accepted));
  injector.Close();
  EXPECT_FALSE(injector.Push(&refused));
  std::vector<Task*> batch = {&overflow};
  injector.PushOverflow(absl::MakeConstSpan(batch));
  EXPECT_THAT(Take(injector, 32, 1), testing::ElementsAre(&accepted, &overflow));
  EXPECT_EQ(injector.injected(), 1);
}

TEST(InjectorTest, KeepsItsOrderThroughGrowthAndGivingMemoryBack) {
  Injector injector;
  std::vector<Item> items(5000);
  std::size_t pushed = 0;
  std::size_t taken = 0;
  for (std::size_t burst : {10u, 2000u, 1u, 2500u, 489u}) {
    for (std::size_t i = 0; i < burst; ++i) ASSERT_TRUE(injector.Push(&items[pushed++]));
    while (injector.HasTask()) {
      for (Task* task : Take(injector, 7, 1)) ASSERT_EQ(task, &items[taken++]);
    }
  }
  EXPECT_EQ(taken, 5000u);
}

}  // namespace
}  // namespace jackdaw
