// Edges: which tasks of a job depend on which. What a task depends on is a run in one array,
// in the order given. Its dependents are found in two places: those of its own batch, known
// when it is added, are a run in another array; those that later batches bring hang on the
// task as a list that is closed when it ends. Eight bytes an edge within a batch, twelve
// between batches.
//
// Thread safety
//   Adding: one thread at a time. Dependencies and the run of dependents: any thread that
//   can see the task. The list: whoever closed it.
//
// Memory order: Link() publishes a link by a release compare-exchange on the list's head;
// Close() takes the list with an acquire exchange and sees every link made before. The
// exchange releases too: a Link() that is refused (acquire) sees the state that the task
// ended in.

#ifndef JACKDAW_SCHEDULER_GRAPH_EDGES_H_
#define JACKDAW_SCHEDULER_GRAPH_EDGES_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "scheduler/base/segmented.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

class Edges {
 public:
  // A dependent from a later batch, on the list of its dependency.
  struct Link {
    TaskIndex dependent = 0;
    std::uint32_t next = 0;  // Of the next link, its place plus one; 0: this is the last.
  };

  // How many dependencies all tasks have together.
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(dependencies_.size());
  }
  [[nodiscard]] TaskIndex dependency(std::uint32_t edge) const { return dependencies_[edge]; }
  [[nodiscard]] TaskIndex dependent(std::uint32_t place) const { return dependents_[place]; }
  // For fetching it ahead.
  [[nodiscard]] const TaskIndex* dependent_address(std::uint32_t place) const {
    return &dependents_[place];
  }
  [[nodiscard]] const Link& link(std::uint32_t place) const { return links_[place - 1]; }

  // Writes down the dependencies of a batch whose cells are set up, from `first` on, and the
  // runs of dependents within it. Nobody else can reach those cells yet.
  void AddBatch(const TaskBatch& batch, TaskIndex first, Segmented<TaskCell>& cells);

  // Puts `dependent` on the list of `dependency`, a task of an earlier batch; false if that
  // has ended.
  [[nodiscard]] bool Append(TaskCell& dependency, TaskIndex dependent);

  // Takes the list of a task that ended; further Append()s are refused. Returns its first
  // link(), 0 for none. With `sealed` (read with acquire after the last batch was added) there
  // are none to come, and a plain load will do.
  static std::uint32_t Close(TaskCell& cell, bool sealed) {
    return sealed ? cell.later_dependents().load(std::memory_order_relaxed)
                  : cell.later_dependents().exchange(TaskCell::kClosed, std::memory_order_acq_rel);
  }

 private:
  Segmented<TaskIndex> dependencies_;
  Segmented<TaskIndex> dependents_;
  Segmented<Link> links_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_EDGES_H_
