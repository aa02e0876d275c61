// Both deques under an owner and three thieves, with an oracle: every task is taken exactly once.
// The owner's bursts are of random depth, so that each end of a burst is a race for the last
// tasks, and a split deque shares and takes back all the time.
//
// Sees: loss and duplication with real sizes and real preemption. Does not see: the orders that
// this machine's memory never takes (tests/model).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/split_deque.h"
#include "scheduler/pool/work_deque.h"

namespace jackdaw {
namespace {

class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
  void Take() {
    if (taken_.fetch_add(1) != 0) ADD_FAILURE() << "a task was taken twice";
  }
  [[nodiscard]] int taken() const { return taken_.load(); }

 private:
  std::atomic<int> taken_{0};
};

template <typename D>
class DequeStressTest : public testing::Test {
 protected:
  static constexpr std::size_t kTasks = 1'000'000;
  static constexpr int kThieves = 3;

  // Pushes all the tasks in bursts of up to `deepest`, and pops about as many as it pushed.
  void Own(std::size_t deepest) {
    Random random(deepest);
    for (std::size_t next = 0; next < kTasks;) {
      for (std::size_t left = random.Below(deepest) + 1; left > 0 && next < kTasks; --left) {
        if (!deque_.PushBottom(&items_[next])) break;
        ++next;
        (void)deque_.ShareIfAsked();
      }
      if (random.Below(4) == 0) (void)deque_.ShareAll();
      for (std::size_t left = random.Below(deepest) + 1; left > 0; --left) {
        if (!PopOne()) break;
      }
    }
    while (PopOne()) {
    }
  }
  bool PopOne() {
    Task* task = deque_.PopBottom();
    if (task != nullptr) static_cast<Item*>(task)->Take();
    (void)deque_.ShareIfAsked();
    return task != nullptr;
  }
  void RunAgainstThieves(std::size_t deepest) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < kThieves; ++i) {
      thieves.emplace_back([&] {
        while (!stop.load()) {
          const Steal steal = deque_.StealTop();
          if (steal.task != nullptr) static_cast<Item*>(steal.task)->Take();
        }
      });
    }
    Own(deepest);
    stop.store(true);
    for (std::thread& thief : thieves) thief.join();
    EXPECT_THAT(items_, testing::Each(testing::Property(&Item::taken, 1)));
  }

  std::vector<Item> items_ = std::vector<Item>(kTasks);
  D deque_{{.initial_capacity = 2, .max_capacity = 1024}};
};

using Deques = testing::Types<WorkDeque, SplitDeque>;
struct DequeName {
  template <typename D>
  static const char* GetName(int) {
    return D::kHasPrivatePart ? "Split" : "Work";
  }
};
TYPED_TEST_SUITE(DequeStressTest, Deques, DequeName);

TYPED_TEST(DequeStressTest, ShallowBurstsGiveEachTaskOnce) { this->RunAgainstThieves(4); }

TYPED_TEST(DequeStressTest, DeepBurstsGiveEachTaskOnce) { this->RunAgainstThieves(2000); }

}  // namespace
}  // namespace jackdaw
