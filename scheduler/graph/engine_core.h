// EngineCore: what the jobs of an engine share.
//
// Thread safety: every method from any thread. Kept alive by the engine, its jobs, and the
// timers that refer to them.

#ifndef JACKDAW_SCHEDULER_GRAPH_ENGINE_CORE_H_
#define JACKDAW_SCHEDULER_GRAPH_ENGINE_CORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/base/clock.h"
#include "scheduler/base/random.h"
#include "scheduler/graph/engine.h"
#include "scheduler/graph/feeder.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

class JobImpl;

class EngineCore {
 public:
  explicit EngineCore(const JobEngine::Options& options);

  [[nodiscard]] TimerQueue& timers() { return timers_; }
  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] Feeder& feeder() { return feeder_; }
  [[nodiscard]] WorkStealingPool& pool() { return pool_; }

  // Uniform in [0, 1).
  [[nodiscard]] double RandomFraction();

  // The worker of this engine's pool that the calling thread is, or null.
  [[nodiscard]] WorkerContext* CurrentWorker();
  // A vector that keeps its memory from one run loop of `worker` to the next. Belongs to that
  // worker's thread.
  [[nodiscard]] std::vector<TaskIndex>& scratch(int worker) {
    return scratch_[static_cast<std::size_t>(worker)];
  }

  // Jobs that are not done, or still in a worker's hands. ALREADY_EXISTS for an id in use.
  absl::Status Adopt(const std::shared_ptr<JobImpl>& job);
  void Forget(const JobImpl& job);
  [[nodiscard]] std::vector<std::shared_ptr<JobImpl>> jobs() const;
  [[nodiscard]] std::int64_t job_count() const;
  // Drops what is queued still: where the pool was shut down, nobody else takes it.
  void DropQueued();
  void WaitUntilNoJobs();

 private:
  WorkStealingPool& pool_;
  TimerQueue& timers_;
  Clock& clock_;
  Feeder feeder_;
  std::vector<std::vector<TaskIndex>> scratch_;

  mutable absl::Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<JobImpl>> jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_ENGINE_CORE_H_
