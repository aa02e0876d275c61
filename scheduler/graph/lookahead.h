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
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

class Lookahead {
 public:
  Lookahead(const Segmented<TaskCell>& cells, const Edges& edges) : cells_(cells), edges_(edges) {}

  // `dependent` was told that `task` ended: dependents lie this far ahead.
  void Saw(TaskIndex task, TaskIndex dependent) {
    if (dependent > task) reach_ = std::max(reach_, std::min(dependent - task, kMaxReach));
  }

  // `task` ended. `count`: the tasks of the job.
  void Step(TaskIndex task, TaskIndex count) {
    const TaskIndex target = std::min(task + reach_, count);
    if (next_ < task) next_ = task + 1;
    for (int i = 0; i < kMaxSteps && next_ < target; ++i, ++next_) {
      __builtin_prefetch(&cells_[next_], /*rw=*/1);
      // Of a task fetched a while ago the dependents can be found.
      if (next_ < kBehind) continue;
      const TaskCell& fetched = cells_[next_ - kBehind];
      if (fetched.dependent_count() > 0) {
        __builtin_prefetch(edges_.dependent_address(fetched.first_dependent()));
      }
    }
  }

 private:
  static constexpr TaskIndex kMaxReach = 2048;  // Tasks: a quarter of a megabyte.
  static constexpr TaskIndex kBehind = 16;
  static constexpr int kMaxSteps = 4;

  const Segmented<TaskCell>& cells_;
  const Edges& edges_;
  TaskIndex reach_ = 0;
  TaskIndex next_ = 0;  // All before it were fetched.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_LOOKAHEAD_H_
