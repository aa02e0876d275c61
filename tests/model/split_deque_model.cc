// The split deque. Every task exactly once: one owner and two thieves, on a deque that grows and
// on one that does not, for growth orders much by itself. And no wake-up is lost: an owner in one
// long task, whose tasks wait for each other, and two workers that park, on the pool's idle set.
//
// Sees: all interleavings and stale reads of a few operations, by random search; a question that
// the owner never hears of, as a run without end. Does not see: long histories, wrapped indices,
// real sizes (tests/scheduler/pool, tests/stress), and how late an answer is.

#include <memory>

#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/split_deque.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {
namespace {

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

using Deque = BasicSplitDeque<ModelAtomic>;

// What the owner does is the Script's. It finds all the deque's tasks taken in the end.
template <typename Script>
struct OnceModel : rl::test_suite<OnceModel<Script>, 3> {
  Deque* deque = nullptr;  // Left where it is when an execution fails half-way.
  Item items[Script::kTasks];

  void before() {
    deque = new Deque(Deque::Options{.initial_capacity = Script::kCapacity,
                                     .max_capacity = 8,
                                     .first_index = (std::int64_t{1} << 32) - 2});
  }

  void thread(unsigned index) {
    if (index == 0) {
      Script::Own(*this);
      while (PopOne()) {
      }
    } else {
      for (int i = 0; i < 3; ++i) StealOne();
    }
  }

  void after() {
    for (Item& item : items) item.ExpectTaken();
    delete deque;
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

// The shared part grows twice, so that a thief may know an older split; then it is taken back.
struct TakesBack {
  static constexpr int kTasks = 3;
  static constexpr int kCapacity = 4;
  static void Own(auto& model) {
    model.Push(0);
    (void)model.deque->ShareAll();
    model.Push(1);
    model.Push(2);
    (void)model.deque->ShareAll();
  }
};

struct GrowsAndAnswers {
  static constexpr int kTasks = 6;
  static constexpr int kCapacity = 2;
  static void Own(auto& model) {
    model.Push(0);
    (void)model.deque->ShareAll();
    model.Push(1);
    model.Push(2);  // Grows, unless thieves were quick.
    (void)model.deque->ShareAll();
    model.PopOne();
    model.Push(3);
    model.Push(4);
    model.PopOne();
    (void)model.deque->ShareIfAsked();
    model.Push(5);
  }
};

// An owner that pushes, by the Script, and two workers that find what it shares. The tasks end
// when as many run as make a party.
template <typename Script>
struct WakeModel : rl::test_suite<WakeModel<Script>, 3> {
  using Idle = BasicIdleSet<ModelAtomic, ModelMutex, ModelSleep>;
  static constexpr int kThieves = 2;
  // Left where they are when an execution fails half-way.
  Deque* deque = nullptr;
  Idle* idle = nullptr;
  ModelSleep::Bucket* bucket = nullptr;
  Item items[Script::kTasks];
  ModelAtomic<int> stopped{0};
  // The tasks' own rendezvous.
  rl::mutex meeting;
  rl::condition_variable arrival;
  rl::var<int> arrived;
  rl::var<int> finished;

  void before() {
    bucket = new ModelSleep::Bucket;
    deque = new Deque(Deque::Options{.initial_capacity = 4, .max_capacity = 4});
    idle = new Idle(kThieves);
    arrived(RL_INFO) = 0;
    finished(RL_INFO) = 0;
  }

  void thread(unsigned index) {
    if (index != 0) return Work(static_cast<int>(index) - 1);
    Script::Own(*this);
    stopped.store(1, std::memory_order_seq_cst);
    idle->WakeAll();
  }

  void after() {
    RL_ASSERT(finished(RL_INFO) == Script::kTasks);
    RL_ASSERT(idle->searching() == 0);
    RL_ASSERT(idle->parked() == 0);
    delete deque;
    delete idle;
    delete bucket;
  }

  // ---- the owner ----

  void Push(int i) {
    items[i].Make();
    RL_ASSERT(deque->PushBottom(&items[i]));
  }
  void ShareIfAsked() {
    if (deque->ShareIfAsked()) idle->NotifyWork();
  }
  void ShareAll() {
    if (deque->ShareAll()) idle->NotifyWork();
  }
  bool AreDone(int tasks) {
    meeting.lock(RL_INFO);
    const bool done = finished(RL_INFO) >= tasks;
    meeting.unlock(RL_INFO);
    return done;
  }
  void Await(int tasks) {
    meeting.lock(RL_INFO);
    while (finished(RL_INFO) < tasks) arrival.wait(meeting, RL_INFO);
    meeting.unlock(RL_INFO);
  }

  // ---- the workers: the loop of Worker, without what does not matter here ----

  void Work(int worker) {
    bool searching = false;
    while (!Stopped()) {
      Task* task = Take();
      if (task == nullptr && !searching) searching = idle->TryStartSearching();
      if (task == nullptr && searching) task = Take();
      if (task != nullptr) {
        if (searching) idle->StopSearching([this] { return deque->HasTask(); });
        searching = false;
        RunTask(task);
        continue;
      }
      (void)idle->Park(worker, searching,
                       [this](const auto&) { return deque->HasTask() || Stopped(); });
      searching = true;
    }
    if (searching) idle->StopSearching([] { return false; });
  }
  Task* Take() {
    for (;;) {
      const Steal steal = deque->StealTop();
      if (steal.outcome != Steal::Outcome::kLost) return steal.task;
    }
  }
  bool Stopped() { return stopped.load(std::memory_order_seq_cst) != 0; }

  void RunTask(Task* task) {
    static_cast<Item*>(task)->Take();
    meeting.lock(RL_INFO);
    const int order = arrived(RL_INFO);
    arrived(RL_INFO) = order + 1;
    const int complete = (order / Script::kParty + 1) * Script::kParty;
    if (order + 1 == complete) arrival.notify_all(RL_INFO);
    while (arrived(RL_INFO) < complete) arrival.wait(meeting, RL_INFO);
    finished(RL_INFO) = finished(RL_INFO) + 1;
    arrival.notify_all(RL_INFO);
    meeting.unlock(RL_INFO);
  }
};

// Two pairs. For the first the owner looks up now and then; before it waits for the second it
// shares everything, and looks no more.
struct LooksUp {
  static constexpr int kTasks = 4;
  static constexpr int kParty = 2;
  static void Own(auto& model) {
    model.ShareIfAsked();
    model.Push(0);
    model.ShareIfAsked();
    model.Push(1);
    while (!model.AreDone(2)) {
      model.ShareIfAsked();
      rl::yield(1, RL_INFO);
    }
    model.Push(2);
    model.Push(3);
    model.ShareAll();
    model.Await(4);
  }
};

// Three at once: the owner takes one back, and looks no more before it waits in it. The others
// are still there for the two who were woken, and who need not ask.
struct TakesOneBack {
  static constexpr int kTasks = 3;
  static constexpr int kParty = 3;
  static void Own(auto& model) {
    for (int i = 0; i < 3; ++i) model.Push(i);
    model.ShareAll();
    model.RunTask(model.deque->PopBottom());
    model.Await(3);
  }
};

JACKDAW_MODEL_TEST(SplitDequeModelTest) {
  auto report = std::make_unique<Report>();
  EXPECT_EQ(Explore<OnceModel<GrowsAndAnswers>>(200'000, *report) &&
                Explore<OnceModel<TakesBack>>(50'000, *report) &&
                Explore<WakeModel<LooksUp>>(100'000, *report) &&
                Explore<WakeModel<TakesOneBack>>(100'000, *report),
            JACKDAW_MODEL_HOLDS)
      << report->text();
}

}  // namespace
}  // namespace jackdaw
