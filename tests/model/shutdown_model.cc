// A pool of two workers shuts down, draining or cancelling, while a thread submits, a task pushes
// another, and a notice of nothing wakes somebody at the last moment: what was accepted is
// finished, and every worker leaves.
//
// Sees: a task left behind by the last worker, a worker that sleeps through the end (a deadlock).
// Does not see: the queues themselves (numbers stand for them), threads and joining, and what
// drops a task (tests/model/pool_schedule_test.cc runs all of it, without weak memory).

#include <memory>
#include <mutex>
#include <ostream>

#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/pool_life.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {

// For the model checker's history.
std::ostream& operator<<(std::ostream& out, PoolState state) {
  return out << static_cast<int>(state);
}

namespace {

constexpr int kWorkers = 2;

struct ShutdownModel : rl::test_suite<ShutdownModel, kWorkers + 2> {
  using Idle = BasicIdleSet<ModelAtomic, ModelMutex, ModelSleep>;
  using Life = BasicPoolLife<ModelAtomic>;
  // Left where they are when an execution fails half-way.
  Idle* idle = nullptr;
  Life* life = nullptr;
  ModelSleep::Bucket* bucket = nullptr;
  // The injector, and the deques.
  ModelMutex mutex;
  rl::var<bool> closed;
  ModelAtomic<int> injected{0};
  ModelAtomic<int> pushed[kWorkers];
  // Who accepted and who finished how many.
  rl::var<int> submitted;
  rl::var<int> spawned[kWorkers];
  rl::var<int> finished[kWorkers];

  void before() {
    bucket = new ModelSleep::Bucket;
    idle = new Idle(kWorkers);
    life = new Life;
    closed(RL_INFO) = false;
    submitted(RL_INFO) = 0;
    for (int worker = 0; worker < kWorkers; ++worker) {
      pushed[worker].store(0, std::memory_order_relaxed);
      spawned[worker](RL_INFO) = 0;
      finished[worker](RL_INFO) = 0;
    }
  }

  void thread(unsigned index) {
    if (index < kWorkers) {
      Work(static_cast<int>(index));
    } else if (index == kWorkers) {
      for (int i = 0; i < 2; ++i) Submit();
      idle->NotifyWork();  // As NotifySource(), where there is nothing.
    } else {
      ShutDown(rl::rand(2) == 0 ? ShutdownMode::kDrain : ShutdownMode::kCancel);
    }
  }

  void after() {
    int left = submitted(RL_INFO);
    for (int worker = 0; worker < kWorkers; ++worker) {
      left += spawned[worker](RL_INFO) - finished[worker](RL_INFO);
    }
    RL_ASSERT(left == 0);
    delete life;
    delete idle;
    delete bucket;
  }

  void Submit() {
    {
      std::lock_guard<ModelMutex> lock(mutex);
      if (closed(RL_INFO)) return;
      submitted(RL_INFO) = submitted(RL_INFO) + 1;
      injected.fetch_add(1, std::memory_order_seq_cst);
    }
    idle->NotifyWork();
  }

  void ShutDown(ShutdownMode mode) {
    {
      std::lock_guard<ModelMutex> lock(mutex);
      closed(RL_INFO) = true;
    }
    if (life->Begin(mode)) idle->WakeAll();
  }

  // The loop of Worker, without what does not matter here.
  void Work(int worker) {
    bool searching = false;
    while (life->state() != PoolState::kStopped) {
      bool root = TakeFrom(injected);
      bool found = root || TakeFrom(pushed[worker]);
      if (!found && !searching) searching = idle->TryStartSearching();
      if (!found && searching) found = TakeFrom(pushed[1 - worker]);
      if (found) {
        if (searching) idle->StopSearching([this] { return WorkVisible(); });
        searching = false;
        Finish(worker, root);
        continue;
      }
      const bool knew = life->shutting_down();
      (void)idle->Park(worker, searching, [this, knew](const auto& announced) {
        if (WorkVisible()) return true;
        const Life::Next next = life->After(knew, knew && idle->AllStayedParked(announced));
        if (next == Life::Next::kStop) {
          life->Stop();
          idle->WakeAll();
        }
        return next != Life::Next::kSleep;
      });
      searching = true;
    }
  }

  // A root pushes one child first, unless it is dropped.
  void Finish(int worker, bool root) {
    if (root && !life->cancelling()) {
      spawned[worker](RL_INFO) = spawned[worker](RL_INFO) + 1;
      pushed[worker].fetch_add(1, std::memory_order_seq_cst);
      idle->NotifyWork();
    }
    finished[worker](RL_INFO) = finished[worker](RL_INFO) + 1;
  }

  static bool TakeFrom(ModelAtomic<int>& queue) {
    int left = queue.load(std::memory_order_relaxed);
    return left > 0 && queue.compare_exchange_strong(left, left - 1, std::memory_order_seq_cst,
                                                     std::memory_order_relaxed);
  }
  bool WorkVisible() {
    return injected.load(std::memory_order_seq_cst) > 0 ||
           pushed[0].load(std::memory_order_seq_cst) > 0 ||
           pushed[1].load(std::memory_order_seq_cst) > 0;
  }
};

JACKDAW_MODEL_TEST(ShutdownModelTest) {
  auto report = std::make_unique<Report>();
  EXPECT_EQ(Explore<ShutdownModel>(200'000, *report), JACKDAW_MODEL_HOLDS) << report->text();
}

}  // namespace
}  // namespace jackdaw
