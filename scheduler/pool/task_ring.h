// TaskRing: a queue of tasks, first in, first out, in one array that grows.
//
// Thread safety: none; its owner guards it.
//
// Limit: none of its own. Memory beyond kKeptCapacity is given back when it runs empty.

#ifndef JACKDAW_SCHEDULER_POOL_TASK_RING_H_
#define JACKDAW_SCHEDULER_POOL_TASK_RING_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "scheduler/pool/task.h"

namespace jackdaw {

class TaskRing {
 public:
  static constexpr std::size_t kKeptCapacity = 1024;  // Tasks.

  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const { return tail_ - head_; }

  // Appends `task`, which must not be null.
  void Push(Task* task) {
    if (size() == capacity_) Grow();
    ring_[tail_++ & (capacity_ - 1)] = task;
  }

  // Takes the oldest task. There must be one.
  [[nodiscard]] Task* Pop() {
    Task* task = ring_[head_++ & (capacity_ - 1)];
    if (empty() && capacity_ > kKeptCapacity) {
      ring_.reset();
      capacity_ = 0;
    }
    return task;
  }

 private:
  static constexpr std::size_t kFirstCapacity = 64;  // Tasks.

  void Grow() {
    const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
    auto grown = std::make_unique<Task*[]>(capacity);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) grown[i] = ring_[(head_ + i) & (capacity_ - 1)];
    ring_ = std::move(grown);
    capacity_ = capacity;
    head_ = 0;
    tail_ = count;
  }

  // A power of two long; the oldest task is at head_ & (capacity_ - 1).
  std::unique_ptr<Task*[]> ring_;
  std::size_t capacity_ = 0;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_TASK_RING_H_
