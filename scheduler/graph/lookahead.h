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
    if (dependent > task)
      reach_ = std::max(reach_, std::clamp(dependent - task, kMinReach, kMaxReach));
  }

  // `task` ended. `count`: the tasks of the job.
  void Step(TaskIndex task, TaskIndex count) {
    const TaskIndex target = std::min(task + reach_, count);
    if (next_ < task) next_ = task + 1;
    for (int i = 0; i < kMaxSteps && next_ < target; ++i, ++next_) {
      __builtin_prefetch(&nodes_[next_], /*rw=*/1);
      __builtin_prefetch(&times_[next_], /*rw=*/1);
      // Of a task fetched a while ago the dependents can be found.
      if (next_ < kBehind) continue;
      const EdgeRun run = DependentsOf(next_ - kBehind, nodes_);
      if (run.size() > 0) __builtin_prefetch(&dependents_[run.first]);
    }
  }

 private:
  static constexpr TaskIndex kMinReach = 64;
  static constexpr TaskIndex kMaxReach = 2048;  // Tasks: 100 kilobytes with their edges.
  static constexpr TaskIndex kBehind = 16;
  static constexpr int kMaxSteps = 4;

  Segmented<TaskNode>::Cursor nodes_;
  Segmented<TaskTimes>::Cursor times_;
  Segmented<TaskIndex>::Cursor dependents_;
  TaskIndex reach_ = 0;
  TaskIndex next_ = 0;  // All before it were fetched.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_LOOKAHEAD_H_
