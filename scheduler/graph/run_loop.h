// RunLoop: what a worker does with a task of a job, and with what becomes ready by it.
//
// Instant tasks run back to back from a stack of the worker's own: no deque, no lock, one
// reading of the clock and one update of the job's progress for many of them. On every beat
// the loop looks up: when others want this worker, or another could take a share that is worth
// the hand-over, it gives its stack to the job's ready queue. A task that is not instant is
// preceded by giving away everything else that is ready, so nothing waits behind it.
//
// Thread safety: none; one per run of a task, on the worker's thread, under a lease on the job.

#ifndef JACKDAW_SCHEDULER_GRAPH_RUN_LOOP_H_
#define JACKDAW_SCHEDULER_GRAPH_RUN_LOOP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/graph/cell_attempt.h"
#include "scheduler/graph/job_impl.h"
#include "scheduler/graph/settler.h"
#include "scheduler/graph/task_cell.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

class RunLoop {
 public:
  // `worker` is the calling thread's; `scratch` an empty vector that lives as long.
  RunLoop(JobImpl& job, WorkerContext& worker, std::vector<TaskIndex>& scratch);

  // Runs `first` and, as far as it makes sense, what becomes ready by it.
  void Run(TaskIndex first);

 private:
  static constexpr int kBeat = 64;            // Instant tasks between two looks around.
  static constexpr int kLongestTurn = 16;     // Other tasks in a row that skip the deque.
  static constexpr std::size_t kWindow = 64;  // Tasks in the deque, beyond which the queue takes.
  static constexpr std::size_t kRefill = 1024;
  // Work that is worth handing to another worker: a wake and the lines that move cost tens of
  // microseconds.
  static constexpr std::int64_t kWorthSharingNs = 200'000;

  void RunInstant(TaskIndex task, TaskNode& node);
  void RunOne(TaskIndex task, TaskNode& node);
  void End(TaskIndex task, const CellAttempt& attempt, std::optional<Outcome> outcome);
  // The tasks from here on are of the job's kind `kind`.
  void SwitchTo(std::uint32_t kind);
  // Records when and where `task` started.
  void Stamped(TaskIndex task);
  // Reads the clock, accounts for the instant tasks since the last beat, and looks up.
  void Beat();
  // Gives all that is ready to the job's ready queue.
  void HandBack();
  // Makes all that is ready available to others; or the older half, if somebody is idle.
  void Share();
  void ShareHalf();

  JobImpl& job_;
  WorkerContext& worker_;
  std::vector<TaskIndex>& ready_;
  Settler settler_;
  // What is stamped beside the start of an attempt. Only the first task can have been stolen.
  const std::uint16_t not_stolen_;
  std::uint16_t started_by_;
  std::int64_t beat_ns_;
  std::int64_t runs_ = 0;
  int turns_ = 0;  // Of tasks that are not instant.
  bool leaving_ = false;

  TaskKind* kind_;  // Of the task that runs.
  std::uint32_t kind_place_;
  std::int64_t instants_ = 0;  // Of this kind, that ended since the last beat.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_RUN_LOOP_H_
