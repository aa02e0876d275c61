// Worker: the loop that finds tasks and runs them, and what a running task sees of it.
// Internal to scheduler/pool; tasks see the WorkerContext.
//
// The order of looking
//   1. its mailbox, oldest first; its own deque, newest first;
//   2. the injector, high priority first, then the work source;
//   3. as a searcher: its mailbox and 2. again, then the other deques, oldest first, each once,
//      in random order; from the second sweep on the others' mailboxes too; all of that again,
//      until the search has lasted its time;
//   4. nowhere: it parks (see idle_set.h).
// What is of high priority in the injector goes before 1., but for every 16th turn. Every 61st
// turn looks at the injector and the source first, by turns, and half a period later at the oldest
// task of its own deque: tasks that keep pushing tasks starve nobody.
//
// Thread safety
//   Loop(), RunOne(), the WorkerContext methods   the worker's thread.
//   deque(), mailbox(), Snapshot(), Accepted(), Finished()
//                                                 any thread (of the deque: its thief's side).
//
// An extra worker (compensation.h) is one more of them while another blocks. It leaves between
// two tasks, and hands what is left in its deque to the injector before.

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_H_

#include <cstdint>
#include <vector>

#include "scheduler/base/random.h"
#include "scheduler/pool/idle_set.h"
#include "scheduler/pool/mailbox.h"
#include "scheduler/pool/pool_core.h"
#include "scheduler/pool/worker_context.h"
#include "scheduler/pool/worker_counters.h"
#include "scheduler/pool/worker_deque.h"
#include "scheduler/pool/worker_stats.h"

namespace jackdaw {

class Worker final : public WorkerContext {
 public:
  Worker(PoolCore& core, int index, std::uint64_t seed);

  // The worker whose task runs on the calling thread, or null. Never inlined, as
  // WorkerContext::Current().
  [[nodiscard]] static Worker* Current();

  // Runs tasks until the pool has stopped.
  void Loop();

  // For a pool without threads: runs or drops one task on the calling thread. False if
  // there was none.
  bool RunOne();

  [[nodiscard]] WorkStealingPool& pool() const override { return core_.pool; }
  [[nodiscard]] int index() const override { return index_; }
  [[nodiscard]] Origin origin() const override { return origin_; }
  [[nodiscard]] TraceSink* trace() const override { return trace_; }
  void Push(Task* task) override;
  void PushFork(Task* task) override;
  void PushBehind(Task* task) override;
  [[nodiscard]] bool TakeBack(Task* task) override;
  bool RunOldestOf(int index, Task::Invoke kind) override;
  [[nodiscard]] std::int64_t Depth() override {
    ShareIfAsked();
    return deque_.SizeEstimate();
  }
  [[nodiscard]] bool ShouldYield() const override;
  void CountInline(std::int64_t count) override;
  void BeforeWait() override {
    if (deque_.ShareAll()) core_.idle.NotifyWork();
  }
  void BeginBlocking() override;
  void EndBlocking() override;

  [[nodiscard]] const PoolCore& core() const { return core_; }
  [[nodiscard]] WorkerDeque& deque() { return deque_; }
  [[nodiscard]] Mailbox& mailbox() { return mailbox_; }
  [[nodiscard]] const Mailbox& mailbox() const { return mailbox_; }
  // A task of this worker asks for worker `to`, or for another priority than normal.
  void PushTo(Worker& to, Task* task);
  void PushWith(Priority priority, Task* task);
  [[nodiscard]] WorkerStats Snapshot() const;
  // Tasks that the pool accepted through this worker, and that this worker is done with.
  [[nodiscard]] std::int64_t Accepted() const { return counters_.pushed.Read(); }
  [[nodiscard]] std::int64_t Finished() const { return counters_.finished.ReadPublished(); }

 private:
  // A task and where it came from; null if there was none.
  struct Found {
    Task* task;
    Origin origin;
  };
  static constexpr Found kNothing = {nullptr, Origin::kOwnDeque};

  [[nodiscard]] Found Next();
  [[nodiscard]] Found TakeShared(std::size_t limit);
  [[nodiscard]] Found TakeInjected(std::size_t limit);
  [[nodiscard]] Found TakeFromSource(std::size_t limit);
  [[nodiscard]] Found TakeForFairness();
  [[nodiscard]] Found KeepRest(Task** tasks, std::size_t count, Origin origin);
  [[nodiscard]] Found Search();
  [[nodiscard]] Found StealSweep();
  [[nodiscard]] Found StealFrom(int victim, bool& lost);
  [[nodiscard]] Found RobMailboxes();
  void LeaveSearch();
  void RunUntilDry(Found found);
  void Execute(Found found);
  void RunTraced(Found found);
  void Park();
  [[nodiscard]] bool WorkVisible();
  void PushOwn(Task* task);
  // After pushes: lets everybody see them, and wakes who should come.
  void Announce() {
    (void)deque_.ShareAll();
    core_.idle.NotifyWork();
  }
  void ShareIfAsked() {
    if (deque_.ShareIfAsked()) core_.idle.NotifyWork();
  }
  [[nodiscard]] bool FindBelow(Task* newest, Task* task);
  void GiveAway(std::int64_t count_wanted);
  [[nodiscard]] bool IsSurplus() const;
  void Leave();
  [[nodiscard]] std::int64_t Now() { return now_ns_ = core_.clock.MonotonicNanos(); }

  PoolCore& core_;
  TraceSink* const trace_;  // Null: nobody is told.
  const int index_;
  const bool is_extra_;  // Stands in for one that blocks.
  // The worker's own; on the thread's own lines, next to the constants above.
  Origin origin_ = Origin::kOwnDeque;
  bool searching_ = false;   // Counted as such in the idle set.
  bool woken_ = false;       // By another worker or a submitter, and nothing found yet.
  bool driven_ = false;      // Inside RunOne().
  bool may_rob_ = false;     // A sweep has found nothing since this worker last found something.
  bool overflowed_ = false;  // The deque gave tasks to the injector since the last park.
  int blocking_depth_ = 0;   // Blocking regions of the running task.
  std::uint32_t turn_ = 0;
  std::int64_t now_ns_ = 0;      // When the worker last looked at the clock.
  std::int64_t spin_budget_ns_;  // How long the next search may last.
  Random random_;
  std::vector<int> victims_;  // All the others, in the order of the last sweep.

  WorkerDeque deque_;
  Mailbox mailbox_;
  WorkerCounters counters_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_H_
