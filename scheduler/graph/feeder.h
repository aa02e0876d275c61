// Feeder: what stands between the jobs and the pool. It holds the ready queue of every job
// and deals them out by deficit round robin, so that a job with a million ready tasks and
// one with ten get their shares.
//
// Thread safety: every method from any thread.
//
// Invariants
//   (1) A job is on the list if and only if its ready queue is not empty.
//   (2) A job on the list holds a lease on itself (JobImpl::AddLeases), and so does each
//       task handed out by Take(). A task that was cancelled meanwhile still passes through.
//   (3) `ready_` is the sum of the queues; it is raised (seq_cst) before the pool is
//       notified, so a worker that parks either sees it or is woken.
//
// Source: Shreedhar and Varghese, "Efficient fair queueing using deficit round-robin",
// SIGCOMM 1995; the quantum is counted in tasks.

#ifndef JACKDAW_SCHEDULER_GRAPH_FEEDER_H_
#define JACKDAW_SCHEDULER_GRAPH_FEEDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/graph/ready_queue.h"
#include "scheduler/pool/work_source.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {

class JobImpl;

// A job's place in the feeder; a member of the job, guarded by the feeder's mutex.
struct FeederEntry {
  ReadyQueue queue;
  std::int64_t deficit = 0;
  std::int64_t quantum = 1;  // By the job's priority.
  bool listed = false;
};

class Feeder final : public WorkSource {
 public:
  explicit Feeder(WorkStealingPool* pool) : pool_(pool) {}

  // Queues tasks of one job that are QUEUED.
  void Push(JobImpl& job, absl::Span<const TaskIndex> tasks);

  // WorkSource. Tasks that are not instant are dealt a few at a time, so that what is in a
  // worker's deque cannot hold back another job for long.
  [[nodiscard]] std::size_t Take(absl::Span<Task*> out) override;
  [[nodiscard]] bool HasWork() const override { return ready_.load(std::memory_order_seq_cst) > 0; }

  // Up to `most` more instant tasks of `job` for a worker that is at it already and holds a lease:
  // none if another job waits. They are appended to `out`, a stack: the one to run first is the
  // last. The caller's lease covers them.
  void TakeMore(JobImpl& job, std::size_t most, std::vector<TaskIndex>& out);

  // Whether a job other than `job` has ready tasks here. A look.
  [[nodiscard]] bool OthersWait(const JobImpl& job) const;

  [[nodiscard]] std::int64_t ready() const { return ready_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kQuantum = 8;     // Tasks, for a job of low priority.
  static constexpr std::size_t kDealtAtOnce = 4;  // Tasks that are not instant.

  // The caller drops the job's lease, once it holds no lock.
  void Unlist(JobImpl& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  WorkStealingPool* const pool_;

  // Read by every worker between tasks and before it parks; written once a batch.
  alignas(kCacheLine) std::atomic<std::int64_t> ready_{0};
  std::atomic<std::int64_t> jobs_{0};          // On the list.
  std::atomic<const JobImpl*> only_{nullptr};  // The job on the list, if it is one.

  alignas(kCacheLine) absl::Mutex mutex_;
  std::deque<JobImpl*> list_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_FEEDER_H_
