// JobEngine: runs jobs on a work-stealing pool. It keeps the ready tasks of every job in
// queues of their own and feeds the pool from them fairly.
//
// Thread safety: every method from any thread. Destroy it after its jobs are done or
// cancelled (CancelAll()), and before its pool and timers.

#ifndef JACKDAW_SCHEDULER_GRAPH_ENGINE_H_
#define JACKDAW_SCHEDULER_GRAPH_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/base/clock.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/job.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {

class EngineCore;  // engine_core.h

class JobEngine {
 public:
  struct Options {
    WorkStealingPool* pool = nullptr;  // Required; this engine becomes its work source.
    TimerQueue* timers = nullptr;      // Required; for backoff and timeouts.
    Clock* clock = &Clock::Real();
    std::uint64_t seed = 0;  // For jitter.
  };
  // The engine's own numbers.
  struct Stats {
    std::int64_t jobs_active = 0;
    std::int64_t ready_tasks = 0;  // QUEUED and not yet in a deque.
  };

  explicit JobEngine(Options options);
  // Blocks until no worker is inside the engine. Requires: every job is done.
  ~JobEngine();

  // Makes a job of `batch` and starts it; sealed at once if `seal`. Errors as Job::Add().
  absl::StatusOr<std::shared_ptr<Job>> Create(JobOptions options, TaskBatch batch, bool seal);

  // Cancels every job that is not done. Returns at once; Job::Wait() waits.
  void CancelAll(const absl::Status& reason);

  [[nodiscard]] Stats stats() const;

 private:
  const std::shared_ptr<EngineCore> core_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_ENGINE_H_
