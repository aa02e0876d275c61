// Edges: the dependencies of a job's tasks, each also a link in the list of its
// dependency's dependents. Twelve bytes an edge.
//
// Thread safety
//   Adding: one thread at a time. Walking the dependents of a task: the thread that closed
//   its list. Reading dependencies: any thread, once the task has been added.
//
// Memory order: Link() publishes an edge by a release compare-exchange on the list's head;
// Close() takes the list with an acquire exchange and sees every edge linked before. The
// exchange releases too: a Link() that is refused (acquire) sees the state that the task
// ended in.

#ifndef JACKDAW_SCHEDULER_GRAPH_EDGES_H_
#define JACKDAW_SCHEDULER_GRAPH_EDGES_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/segmented.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

struct Edge {
  TaskIndex dependency = 0;
  TaskIndex dependent = 0;
  std::uint32_t next = 0;  // The next edge of the same dependency, plus one; 0: the last.
};

class Edges {
 public:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(edges_.size()); }
  void Grow(std::size_t count) { edges_.Grow(count); }
  [[nodiscard]] Edge& operator[](std::uint32_t edge) { return edges_[edge]; }
  [[nodiscard]] const Edge& operator[](std::uint32_t edge) const { return edges_[edge]; }

  // Puts `edge` on the list of `dependency`; false if that task has ended.
  bool Link(TaskCell& dependency, std::uint32_t edge) {
    std::uint32_t head = dependency.dependents().load(std::memory_order_acquire);
    while (head != TaskCell::kClosed) {
      edges_[edge].next = head;
      if (dependency.dependents().compare_exchange_weak(head, edge + 1, std::memory_order_release,
                                                        std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }
  // The same for a dependency that cannot have ended: no other thread is at its list.
  void LinkUnshared(TaskCell& dependency, std::uint32_t edge) {
    std::atomic<std::uint32_t>& head = dependency.dependents();
    edges_[edge].next = head.load(std::memory_order_relaxed);
    head.store(edge + 1, std::memory_order_relaxed);
  }

  // Takes the list of a task that ended; further Link()s are refused. With `sealed` (read
  // with acquire after the last task was added) there are none to come, and a plain load will do.
  static std::uint32_t Close(TaskCell& cell, bool sealed) {
    return sealed ? cell.dependents().load(std::memory_order_relaxed)
                  : cell.dependents().exchange(TaskCell::kClosed, std::memory_order_acq_rel);
  }

 private:
  Segmented<Edge> edges_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_EDGES_H_
