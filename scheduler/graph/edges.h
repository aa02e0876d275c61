// Edges: which tasks of a job depend on which. What a task depends on is a run in one array,
// in the order given. Its dependents are found in two places: those of its own batch, known
// when it is added, are a run in another array; those that later batches bring hang on the
// task as a list that is closed when it ends. The runs follow each other in the order of the
// tasks, so each begins where that of the task before ends. Eight bytes an edge within a batch,
// twelve between batches.
//
// Thread safety
//   Adding: one thread at a time. Dependencies and the run of dependents: any thread that
//   can see the task. The list: whoever closed it.
//
// Memory order: Append() publishes a link by a release compare-exchange on the list's head;
// Close() takes the list with an acquire exchange and sees every link made before. The
// exchange releases too: an Append() that is refused (acquire) sees the state that the task
// ended in.

#ifndef JACKDAW_SCHEDULER_GRAPH_EDGES_H_
#define JACKDAW_SCHEDULER_GRAPH_EDGES_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "scheduler/base/segmented.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/task_cell.h"
#include "scheduler/graph/task_node.h"

namespace jackdaw {

// Places in an array of edges, from `first` to before `end`.
struct EdgeRun {
  std::uint32_t first;
  std::uint32_t end;

  [[nodiscard]] std::uint32_t size() const { return end - first; }
};

// The run of dependents of `task`; `nodes`: all of the job's, or a cursor to them.
template <typename Nodes>
[[nodiscard]] EdgeRun DependentsOf(TaskIndex task, Nodes& nodes) {
  return {task == 0 ? 0 : nodes[task - 1].dependents_end(), nodes[task].dependents_end()};
}

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
  [[nodiscard]] EdgeRun DependenciesOf(TaskIndex task) const {
    return {task == 0 ? 0 : dependencies_end_[task - 1], dependencies_end_[task]};
  }
  [[nodiscard]] TaskIndex dependency(std::uint32_t place) const { return dependencies_[place]; }
  [[nodiscard]] const Segmented<TaskIndex>& dependents() const { return dependents_; }
  [[nodiscard]] const Link& link(std::uint32_t place) const { return links_[place - 1]; }

  // Writes down the dependencies of a batch whose nodes are set up, from `first` on, and the
  // runs of dependents within it. Nobody else can reach those nodes yet. Returns the tasks
  // that have no dependency in the batch to wait for, or one outside it: those which others could
  // reach and start.
  std::vector<TaskIndex> AddBatch(const TaskBatch& batch, TaskIndex first,
                                  Segmented<TaskNode>& nodes);

  // Puts `dependent` on the list of `dependency`, a task of an earlier batch; false if that
  // has ended.
  [[nodiscard]] bool Append(TaskCell& dependency, TaskIndex dependent);

  // Whether some list may not be empty. Once the job is sealed (read with acquire) this does
  // not change, and where there are no lists none needs to be closed.
  [[nodiscard]] bool has_lists() const { return has_lists_.load(std::memory_order_relaxed); }
  // Takes the list of a task that ended; further Append()s are refused. Returns its first
  // link(), 0 for none.
  static std::uint32_t Close(TaskCell& cell) {
    return cell.later_dependents().exchange(TaskCell::kClosed, std::memory_order_acq_rel);
  }

 private:
  Segmented<std::uint32_t> dependencies_end_;  // By task.
  Segmented<TaskIndex> dependencies_;
  Segmented<TaskIndex> dependents_;
  Segmented<Link> links_;
  std::atomic<bool> has_lists_{false};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_EDGES_H_
