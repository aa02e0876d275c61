// WorkStealingPool: the runner for compute. Each worker owns a deque, works on its newest
// task and, when it has none, takes others' oldest. Work from outside comes through the
// injector. A pool without workers (Options::workers = 0) runs on whoever calls RunOne().
//
// Thread safety: every method from any thread, at any time between the constructor's
// return and the destructor's start. RunOne() and RunUntilIdle() only on a pool of zero
// workers, by one thread at a time.
//
// After fork(), a pool is dead in the child: it has no threads there. It refuses work and
// waits for nothing; only the parent's goes on.

#ifndef JACKDAW_SCHEDULER_POOL_WORK_STEALING_POOL_H_
#define JACKDAW_SCHEDULER_POOL_WORK_STEALING_POOL_H_

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/base/clock.h"
#include "scheduler/base/priority.h"
#include "scheduler/pool/error_edge.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/trace_sink.h"
#include "scheduler/pool/work_source.h"
#include "scheduler/pool/worker_stats.h"

namespace jackdaw {

class WorkStealingPool final : public Runner {
 public:
  struct Options {
    std::string name = "compute";  // Threads are called `<name>.worker.<index>`.
    int workers = -1;              // 0 to kMaxWorkers; -1: EffectiveCpuCount().
    // Longest search before parking; it adapts below that. None where the pool has more
    // workers than there are usable CPUs, for a searcher would stand in a worker's way.
    absl::Duration spin = absl::Microseconds(50);
    std::uint64_t seed = 0;  // For the order of victims.
    // Tasks in a BlockingRegion (blocking_region.h) for which extra workers stand in, at most.
    // These have indices from size() on, also for the hooks.
    int max_blocked = 64;  // 0 to kMaxBlocked.
    // Called on each worker's thread, before its first task and after its last. What they
    // throw goes to `on_error`. Signals are blocked on these threads but for those that a
    // fault raises. The thread of an extra worker that left and is needed again may stay, and
    // calls them again.
    std::function<void(int worker)> on_thread_start = nullptr;
    std::function<void(int worker)> on_thread_exit = nullptr;
    ErrorEdge::Hook on_error = nullptr;  // See error_edge.h.
    Clock* clock = &Clock::Real();
    // Is told what the workers do; null: nobody. Outlives the pool and its threads. See
    // trace_sink.h.
    TraceSink* trace = nullptr;
    // For tests, to refuse threads: how one is made. As pthread_create() without attributes.
    std::function<int(pthread_t* thread, void* (*body)(void*), void* argument)> create_thread =
        nullptr;
  };
  static constexpr int kMaxWorkers = 1024;
  static constexpr int kMaxBlocked = 1024;

  // Starts the workers. When the system refuses a thread, runs with those it has; when it
  // refuses the first one, ends the process with a message, as when memory runs out.
  explicit WorkStealingPool(Options options);
  // The same, but RESOURCE_EXHAUSTED when the system refuses the first thread.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<WorkStealingPool>> Create(Options options);
  // Drains: ShutdownAndWait(ShutdownMode::kDrain).
  ~WorkStealingPool() override;

  [[nodiscard]] bool Submit(Task* task) override;
  [[nodiscard]] absl::string_view name() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::int64_t task_count() const override;
  void Shutdown(ShutdownMode mode) override;
  void ShutdownAndWait(ShutdownMode mode) override;

  // The same with a priority. High goes before normal, and before what the workers have of their
  // own; low comes when nothing else waits in the injector. Nothing waits for ever: after
  // InjectorLanes::kPatience tasks of a higher priority it is the turn of a lower one. Of the
  // tasks of the running task's own pool, those of normal priority go on the worker's deque.
  [[nodiscard]] bool Submit(Task* task, Priority priority);
  using Runner::Run;
  template <typename Body>
  absl::Status Run(Body&& body, Priority priority) {
    Task* task = MakeTask(std::forward<Body>(body));
    if (Submit(task, priority)) return absl::OkStatus();
    task->Drop();
    return ShutdownError();
  }

  // Submits `task` with the wish that worker `worker` run it, because it has the data at hand:
  // from [0, size()), others are taken modulo size(). The worker gets to it before its other
  // tasks, but an idle one may rob it, so a wish never makes a task wait. As Submit() otherwise.
  [[nodiscard]] bool SubmitTo(int worker, Task* task);
  // The same for a closure; as Run() otherwise.
  template <typename Body>
  absl::Status RunOn(int worker, Body&& body) {
    Task* task = MakeTask(std::forward<Body>(body));
    if (SubmitTo(worker, task)) return absl::OkStatus();
    task->Drop();
    return ShutdownError();
  }
  // The worker to wish for on behalf of `key`: always the same one, and the keys evenly spread.
  [[nodiscard]] int WorkerFor(std::uint64_t key) const;

  // The index of every worker, extra ones included, is below it.
  [[nodiscard]] int max_workers() const;

  // Lets workers take from `source` until DetachSource(), which returns once no worker is
  // still inside it. At most one at a time. The source outlives its attachment.
  void AttachSource(WorkSource* source);
  void DetachSource();
  // Says that the source may have work: wakes a worker if one should come.
  void NotifySource();

  // Zero workers: runs one task on the calling thread; false if there was none.
  bool RunOne();
  // Zero workers: runs until nothing is left. Returns how many tasks ran.
  std::int64_t RunUntilIdle();

  // One entry a worker (one for the caller where there are none), then one for each extra worker
  // that ever stood in. Never blocks a worker.
  [[nodiscard]] std::vector<WorkerStats> worker_stats() const;
  [[nodiscard]] PoolStats stats() const;

 private:
  class Impl;
  struct Adopt {};
  WorkStealingPool(Adopt, std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORK_STEALING_POOL_H_
