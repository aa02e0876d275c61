// ReadyQueue: the tasks of one job that are QUEUED and not yet in a worker's hands, in
// bands of priority, oldest first within a band.
//
// Thread safety: none; guarded by the feeder.

#ifndef JACKDAW_SCHEDULER_GRAPH_READY_QUEUE_H_
#define JACKDAW_SCHEDULER_GRAPH_READY_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/graph/batch.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

class ReadyQueue {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void Push(TaskIndex task, Priority priority) {
    bands_[static_cast<std::size_t>(priority)].tasks.push_back(task);
    ++size_;
  }

  // The oldest of the highest band. Requires !empty().
  [[nodiscard]] TaskIndex Front() { return FirstBand().tasks[FirstBand().head]; }
  TaskIndex Pop() {
    --size_;
    return FirstBand().Pop();
  }

 private:
  // A queue in a vector: what was taken from the front is given back in one move, once it
  // is more than half.
  struct Band {
    std::vector<TaskIndex> tasks;
    std::size_t head = 0;

    [[nodiscard]] bool empty() const { return head == tasks.size(); }
    TaskIndex Pop() {
      const TaskIndex task = tasks[head++];
      if (empty()) {
        tasks.clear();
        head = 0;
      } else if (head >= 64 && head * 2 > tasks.size()) {
        tasks.erase(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(head));
        head = 0;
      }
      return task;
    }
  };

  Band& FirstBand() {
    std::size_t band = kPriorityCount - 1;
    while (bands_[band].empty()) --band;
    return bands_[band];
  }

  std::array<Band, kPriorityCount> bands_;
  std::size_t size_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_READY_QUEUE_H_
