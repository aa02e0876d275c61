// No wake-up is lost, and every park is matched: two workers and a submitter from outside,
// whose tasks wait for each other in pairs, so that both workers must come, twice. Either anybody
// may take a task, or each task is one worker's, and waking that one must be enough.
//
// Sees: a task that nobody comes for, as a deadlock; workers counted wrong at the end. Does
// not see: the queues themselves (one atomic number stands for them), and how long it takes.

#include <memory>

#include "scheduler/pool/idle_set.h"
#include "tests/model/model_test.h"
// Last.
#include "tests/model/model_atomic.h"

namespace jackdaw {
namespace {

constexpr int kWorkers = 2;
constexpr int kTasks = 4;

template <bool kMail>
struct IdleSetModel : rl::test_suite<IdleSetModel<kMail>, kWorkers + 1> {
  using Idle = BasicIdleSet<ModelAtomic, ModelMutex, ModelSleep>;
  // Left where they are when an execution fails half-way.
  Idle* idle = nullptr;
  ModelSleep::Bucket* bucket = nullptr;
  // What stands for the injector and its lock-free size, or for the mailboxes.
  ModelAtomic<int> queued[kWorkers];
  ModelAtomic<int> stopped{0};
  // The tasks' own rendezvous.
  rl::mutex meeting;
  rl::condition_variable arrival;
  rl::var<int> arrived;
  rl::var<int> finished;

  void before() {
    bucket = new ModelSleep::Bucket;
    idle = new Idle(kWorkers);
    for (ModelAtomic<int>& queue : queued) queue.store(0, std::memory_order_relaxed);
    arrived(RL_INFO) = 0;
    finished(RL_INFO) = 0;
  }

  void thread(unsigned index) {
    if (index < kWorkers) {
      Work(static_cast<int>(index));
    } else {
      for (int pair = 0; pair < kTasks / 2; ++pair) SubmitPair(pair);
    }
  }

  void after() {
    RL_ASSERT(finished(RL_INFO) == kTasks);
    RL_ASSERT(idle->searching() == 0);
    RL_ASSERT(idle->parked() == 0);
    delete idle;
    delete bucket;
  }

  // Returns once the pair has run, so that workers park in between.
  void SubmitPair(int pair) {
    for (int i = 0; i < 2; ++i) {
      QueueFor(i).fetch_add(1, std::memory_order_seq_cst);
      if constexpr (kMail) {
        (void)idle->WakeWorker(i);
      } else {
        idle->NotifyWork();
      }
    }
    meeting.lock(RL_INFO);
    while (finished(RL_INFO) < 2 * (pair + 1)) arrival.wait(meeting, RL_INFO);
    meeting.unlock(RL_INFO);
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
        RunTask();
        continue;
      }
      (void)idle->Park(worker, searching,
                       [this, worker](const auto&) { return WorkVisible(worker) || Stopped(); });
      searching = true;
    }
    if (searching) idle->StopSearching([] { return false; });
  }

  ModelAtomic<int>& QueueFor(int worker) { return queued[kMail ? worker : 0]; }
  bool TakeOne(int worker) {
    ModelAtomic<int>& queue = QueueFor(worker);
    int left = queue.load(std::memory_order_relaxed);
    return left > 0 && queue.compare_exchange_strong(left, left - 1, std::memory_order_seq_cst,
                                                     std::memory_order_relaxed);
  }
  bool WorkVisible(int worker) { return QueueFor(worker).load(std::memory_order_seq_cst) > 0; }
  bool Stopped() { return stopped.load(std::memory_order_seq_cst) != 0; }

  void RunTask() {
    meeting.lock(RL_INFO);
    const int order = arrived(RL_INFO);
    arrived(RL_INFO) = order + 1;
    const int pair_complete = (order / 2 + 1) * 2;
    if (order + 1 == pair_complete) arrival.notify_all(RL_INFO);
    while (arrived(RL_INFO) < pair_complete) arrival.wait(meeting, RL_INFO);
    const int done = finished(RL_INFO) + 1;
    finished(RL_INFO) = done;
    arrival.notify_all(RL_INFO);
    meeting.unlock(RL_INFO);
    if (done < kTasks) return;
    stopped.store(1, std::memory_order_seq_cst);
    idle->WakeAll();
  }
};

JACKDAW_MODEL_TEST(IdleSetModelTest) {
  auto report = std::make_unique<Report>();
  const bool holds = Explore<IdleSetModel<false>>(100'000, *report) &&
                     Explore<IdleSetModel<true>>(100'000, *report);
  EXPECT_EQ(holds, JACKDAW_MODEL_HOLDS) << report->text();
}

}  // namespace
}  // namespace jackdaw
