// Lookahead: fetches tasks into the cache before they are needed. Tasks mostly run in about
// the order in which they were added, and what depends on a task was mostly added a certain
// distance after it. So while a run of small tasks goes on, the tasks that far ahead are
// fetched, one step a task: most of the time a small task takes is the wait for memory.
// (1M layered no-op tasks: see docs/performance.md.)
//
// Thread safety: none; one per settler.

#ifndef JACKDAW_SCHEDULER_GRAPH_LOOKAHEAD_H_
#define JACKDAW_SCHEDULER_GRAPH_LOOKAHEAD_H_

#include <algorithm>
#include <cstdint>

#include "scheduler/graph/edges.h"
#include "scheduler/graph/task_node.h"
#include "scheduler/graph/task_times.h"

namespace jackdaw {

class Lookahead {
 public:
  Lookahead(const Segmented<TaskNode>& nodes, const Segmented<TaskTimes>& times,
            const Segmented<TaskIndex>& dependents)
      : nodes_(nodes), times_(times), dependents_(dependents) {}

  // `dependent` was told that `task` ended: dependents lie this far ahead.
  void Saw(TaskIndex task, TaskIndex dependent) {
    const TaskIndex distance = dependent - task;  // Huge if it lies behind.
    if (distance <= reach_ || dependent < task) return;
    reach_ = std::clamp(distance, kMinReach, kMaxReach);
  }

  // `task` ended. `count`: the tasks of the job.
  void Step(TaskIndex task, TaskIndex count) {
    const TaskIndex target = std::min(task + reach_, count);
    if (next_ <= task) next_ = (task | (kLine - 1)) + 1;
    for (int i = 0; i < kMaxSteps && next_ < target; ++i, next_ += kLine) Fetch(next_);
  }

 private:
  static constexpr TaskIndex kMinReach = 64;
  static constexpr TaskIndex kMaxReach = 2048;  // Tasks: 100 kilobytes with their edges.
  static constexpr TaskIndex kLine = 4;         // Tasks whose nodes share a cache line.
  static constexpr TaskIndex kBehind = 4 * kLine;
  static constexpr int kMaxSteps = 2;
  static constexpr std::uint32_t kMostEdges = 64;  // Four cache lines of a run of dependents.
  static constexpr std::uint32_t kEdgesInLine = 16;

  // Fetches the line of tasks from `task` on, and the dependents of one that was fetched a while
  // ago: by now they can be found.
  void Fetch(TaskIndex task) {
    __builtin_prefetch(&nodes_[task], /*rw=*/1);
    __builtin_prefetch(&times_[task], /*rw=*/1);
    if (task <= kBehind) return;
    const std::uint32_t first = nodes_[task - kBehind - 1].dependents_end();
    const std::uint32_t end =
        std::min(nodes_[task - kBehind + kLine - 1].dependents_end(), first + kMostEdges);
    for (std::uint32_t place = first; place < end; place += kEdgesInLine) {
      __builtin_prefetch(&dependents_[place]);
    }
  }

  Segmented<TaskNode>::Cursor nodes_;
  Segmented<TaskTimes>::Cursor times_;
  Segmented<TaskIndex>::Cursor dependents_;
  TaskIndex reach_ = 0;
  TaskIndex next_ = 0;  // All before it were fetched.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_LOOKAHEAD_H_
