// The future against every order of: a result, two who await it, a request to cancel that
// resolves it in its turn, a callback on cancel that is added late, and one who peeks.
//
// Sees: a waiter lost or woken twice, a result or a waiter's contents read before they are
// visible, two results, a cell destroyed while it is in use, a callback on cancel left behind.
// Does not see: who runs the waiters when (waiter.cc), nor blocking (that is a futex's).

#include <cstdint>
#include <memory>

#include "scheduler/async/future_core.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {
namespace {

class Core : public BasicFutureCore<ModelAtomic> {};

struct FutureModel : rl::test_suite<FutureModel, 5> {
  // Somebody who waits, for the result or for a cancel.
  struct Waits final : Waiter {
    Waits() : Waiter(&Waits::Woken, Turn::kAtOnce) {}
    void Prepare() {
      contents(RL_INFO) = 1;
      ends(RL_INFO) = 0;
    }
    // The waiter's memory is its own again: touching it must be ordered after all before.
    void End() {
      RL_ASSERT(contents(RL_INFO) == 1);
      ends(RL_INFO) = ends(RL_INFO) + 1;
    }
    static void Woken(Waiter* waiter) noexcept { static_cast<Waits*>(waiter)->End(); }

    rl::var<int> contents;
    rl::var<int> ends;
  };

  // Left where they are when an execution fails half-way.
  Core* core = nullptr;
  Waits* awaits[2] = {};
  Waits* on_cancel[2] = {};
  rl::var<int> result;
  rl::var<int> results;  // How many were given.
  rl::var<int> alive;
  ModelAtomic<int> destroyed{0};

  void before() {
    core = new Core;
    for (int i = 0; i < 4; ++i) core->AddReference();
    for (Waits*& waits : awaits) waits = new Waits;
    for (Waits*& waits : on_cancel) {
      waits = new Waits;
      waits->Prepare();
    }
    results(RL_INFO) = 0;
    alive(RL_INFO) = 1;
  }

  void thread(unsigned index) {
    switch (index) {
      case 0:
        // In half of the executions the late one finds nobody before it.
        rl::rand(2) == 0 ? AddLate(*on_cancel[0]) : on_cancel[0]->End();
        if (core->TryClaim()) Resolve(1);
        break;
      case 1:
      case 2:
        Await(*awaits[index - 1]);
        break;
      case 3:
        // The callbacks' owner gives the result, as Promise::OnCancel() allows; or nobody asks,
        // and every callback must end with the result.
        if (rl::rand(2) == 0) EndAll(core->RequestCancel());
        if (core->TryClaim()) Resolve(2);
        break;
      default:
        AddLate(*on_cancel[1]);
        if (core->is_ready()) RL_ASSERT(result(RL_INFO) != 0);
        break;
    }
    RL_ASSERT(alive(RL_INFO) == 1);
    if (core->RemoveReference()) {
      alive(RL_INFO) = 0;
      destroyed.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void after() {
    RL_ASSERT(destroyed.load(std::memory_order_relaxed) == 1);
    RL_ASSERT(results(RL_INFO) == 1);
    for (Waits* waits : awaits) RL_ASSERT(waits->ends(RL_INFO) == 1);
    for (Waits* waits : on_cancel) RL_ASSERT(waits->ends(RL_INFO) == 1);
    for (Waits* waits : awaits) delete waits;
    for (Waits* waits : on_cancel) delete waits;
    delete core;
  }

  void Resolve(int value) {
    result(RL_INFO) = value;
    results(RL_INFO) = results(RL_INFO) + 1;
    Waiter* waiters = core->Publish();
    EndAll(core->CloseCancel());
    EndAll(waiters);
  }

  void Await(Waits& waits) {
    waits.Prepare();
    if (core->AddWaiter(&waits)) return;
    RL_ASSERT(result(RL_INFO) != 0);
    waits.End();
  }

  void AddLate(Waits& waits) {
    Waiter* too_late = nullptr;
    if (core->AddCancelWaiter(&waits, too_late) != Core::Added::kWaits) waits.End();
    EndAll(too_late);
  }

  static void EndAll(Waiter* first) {
    while (first != nullptr) {
      Waiter* waiter = first;
      first = waiter->next;
      waiter->WakeNow();
    }
  }
};

JACKDAW_MODEL_TEST(FutureModelTest) {
  auto report = std::make_unique<Report>();
  EXPECT_EQ(Explore<FutureModel>(100'000, *report), JACKDAW_MODEL_HOLDS) << report->text();
}

}  // namespace
}  // namespace jackdaw
