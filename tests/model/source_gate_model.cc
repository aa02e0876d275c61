// A source comes with work, gets work later, and is taken away and destroyed, while two workers
// look into it and park: no notice of work is lost, and nobody is inside a dead source.
//
// Sees: work that nobody comes for, as a deadlock; a source used after Detach(), as a race on
// its memory. Does not see: two sources at once (not allowed), nor Take() itself.

#include <memory>

#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/source_gate.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {
namespace {

constexpr int kWorkers = 2;

struct LetOthersRun {
  static void Now() { rl::yield(1, RL_INFO); }
};

class Source final : public WorkSource {
 public:
  void Create(int work) {
    memory_(RL_INFO) = 1;
    work_.store(work, std::memory_order_relaxed);
  }
  void Destroy() { memory_(RL_INFO) = 0; }
  void Offer() { work_.fetch_add(1, std::memory_order_seq_cst); }

  [[nodiscard]] std::size_t Take(absl::Span<Task*>) override {
    Touch();
    int left = work_.load(std::memory_order_relaxed);
    return left > 0 && work_.compare_exchange_strong(left, left - 1, std::memory_order_seq_cst,
                                                     std::memory_order_relaxed)
               ? 1
               : 0;
  }
  [[nodiscard]] bool HasWork() const override {
    Touch();
    return work_.load(std::memory_order_seq_cst) > 0;
  }

 private:
  void Touch() const { RL_ASSERT(memory_(RL_INFO) == 1); }
  mutable rl::var<int> memory_;
  ModelAtomic<int> work_{0};
};

struct SourceGateModel : rl::test_suite<SourceGateModel, kWorkers + 1> {
  using Idle = BasicIdleSet<ModelAtomic, ModelMutex, ModelSleep>;
  using Gate = BasicSourceGate<ModelAtomic, LetOthersRun>;
  // Left where they are when an execution fails half-way.
  Idle* idle = nullptr;
  Gate* gate = nullptr;
  ModelSleep::Bucket* bucket = nullptr;
  Source source;
  ModelAtomic<int> stopped{0};
  rl::mutex mutex;
  rl::condition_variable changed;
  rl::var<int> taken;

  void before() {
    bucket = new ModelSleep::Bucket;
    idle = new Idle(kWorkers);
    gate = new Gate(kWorkers);
    taken(RL_INFO) = 0;
  }

  void thread(unsigned index) {
    if (index < kWorkers) {
      Work(static_cast<int>(index));
    } else {
      Control();
    }
  }

  void after() {
    delete gate;
    delete idle;
    delete bucket;
  }

  void Control() {
    source.Create(1);
    gate->Attach(&source);
    idle->NotifyWork();
    AwaitTaken(1);
    gate->Detach();
    source.Destroy();
    source.Create(0);
    gate->Attach(&source);
    source.Offer();
    idle->NotifyWork();
    AwaitTaken(2);
    gate->Detach();
    source.Destroy();
    stopped.store(1, std::memory_order_seq_cst);
    idle->WakeAll();
  }

  void AwaitTaken(int count) {
    mutex.lock(RL_INFO);
    while (taken(RL_INFO) < count) changed.wait(mutex, RL_INFO);
    mutex.unlock(RL_INFO);
  }

  // The loop of Worker, without what does not matter here.
  void Work(int worker) {
    bool searching = false;
    while (!Stopped()) {
      bool found = TakeOne(worker);
      if (!found && !searching) searching = idle->TryStartSearching();
      if (!found && searching) found = TakeOne(worker);
      if (found) {
        if (searching) idle->StopSearching([this, worker] { return WorkVisible(worker); });
        searching = false;
        CountTaken();
        continue;
      }
      (void)idle->Park(worker, searching,
                       [this, worker](const auto&) { return WorkVisible(worker) || Stopped(); });
      searching = true;
    }
    if (searching) idle->StopSearching([] { return false; });
  }

  bool TakeOne(int worker) {
    return gate->With(worker, std::size_t{0}, [](WorkSource& of) { return of.Take({}); }) != 0;
  }
  bool WorkVisible(int worker) {
    return gate->With(worker, false, [](WorkSource& of) { return of.HasWork(); });
  }
  bool Stopped() { return stopped.load(std::memory_order_seq_cst) != 0; }

  void CountTaken() {
    mutex.lock(RL_INFO);
    taken(RL_INFO) = taken(RL_INFO) + 1;
    changed.notify_all(RL_INFO);
    mutex.unlock(RL_INFO);
  }
};

JACKDAW_MODEL_TEST(SourceGateModelTest) {
  auto report = std::make_unique<Report>();
  EXPECT_EQ(Explore<SourceGateModel>(100'000, *report), JACKDAW_MODEL_HOLDS) << report->text();
}

}  // namespace
}  // namespace jackdaw
