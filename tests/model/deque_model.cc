// Every task exactly once: one owner and two thieves on a deque of capacity 2 that grows.
//
// Sees: all interleavings and stale reads of a few operations, by random search. Does not see:
// long histories, wrapped indices, real sizes (tests/scheduler/pool, tests/stress), and data
// races outside of the deque and the tasks (ThreadSanitizer).

#include <memory>

#include "scheduler/pool/work_deque.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {
namespace {

constexpr int kTasks = 5;

// Its maker writes the payload before the push and its taker after: the checker reports a
// race where the deque did not order the two, or two takers.
class Item final : public Task {
 public:
  Item() : Task([](Task*, Verb) noexcept {}) {}
  void Make() { taken_(RL_INFO) = 0; }
  void Take() {
    RL_ASSERT(taken_(RL_INFO) == 0);
    taken_(RL_INFO) = 1;
  }
  void ExpectTaken() { RL_ASSERT(taken_(RL_INFO) == 1); }

 private:
  rl::var<int> taken_;
};

struct DequeModel : rl::test_suite<DequeModel, 3> {
  using Deque = BasicWorkDeque<ModelAtomic>;
  Deque* deque = nullptr;  // Left where it is when an execution fails half-way.
  Item items[kTasks];

  void before() {
    deque = new Deque(Deque::Options{
        .initial_capacity = 2, .max_capacity = 8, .first_index = (std::int64_t{1} << 32) - 2});
  }

  void thread(unsigned index) {
    if (index == 0) {
      Own();
    } else {
      for (int i = 0; i < 2; ++i) StealOne();
    }
  }

  void after() {
    for (Item& item : items) item.ExpectTaken();
    delete deque;
  }

  void Own() {
    Push(0);
    Push(1);
    PopOne();
    Push(2);
    Push(3);  // Grows, unless thieves were quick.
    PopOne();
    Push(4);
    while (PopOne()) {
    }
  }
  void Push(int i) {
    items[i].Make();
    RL_ASSERT(deque->PushBottom(&items[i]));
  }
  bool PopOne() {
    Task* task = deque->PopBottom();
    if (task != nullptr) static_cast<Item*>(task)->Take();
    return task != nullptr;
  }
  void StealOne() {
    const Steal steal = deque->StealTop();
    RL_ASSERT((steal.outcome == Steal::Outcome::kTaken) == (steal.task != nullptr));
    if (steal.task != nullptr) static_cast<Item*>(steal.task)->Take();
  }
};

JACKDAW_MODEL_TEST(DequeModelTest) {
  auto report = std::make_unique<Report>();
  EXPECT_EQ(Explore<DequeModel>(500'000, *report), JACKDAW_MODEL_HOLDS) << report->text();
}

}  // namespace
}  // namespace jackdaw
