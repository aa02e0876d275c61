#include "scheduler/graph/edges.h"

#include <memory>
#include <utility>

namespace jackdaw {

std::vector<TaskIndex> Edges::AddBatch(const TaskBatch& batch, TaskIndex first,
                                       Segmented<TaskNode>& nodes) {
  Segmented<TaskNode>::Cursor node(nodes);
  std::uint32_t end = size();
  dependencies_end_.Grow(batch.size(), [&](std::uint32_t* place, std::size_t task) {
    std::construct_at(place, end += batch.dependency_count[task - first]);
  });
  // How many dependents each task has; then where the next of them is written. Apart from the
  // nodes, so that those of many tasks fit the first-level cache.
  std::vector<std::uint32_t> place_of(batch.size(), 0);
  const std::uint32_t* target = batch.dependencies.data();
  dependencies_.Grow(batch.dependencies.size(), [&](TaskIndex* place, std::size_t) {
    const bool in_batch = (*target & TaskBatch::kInBatchBit) != 0;
    const std::uint32_t dependency = *target++ & ~TaskBatch::kInBatchBit;
    if (in_batch) ++place_of[dependency];
    std::construct_at(place, dependency + (in_batch ? first : 0));
  });
  const auto start = static_cast<std::uint32_t>(dependents_.size());
  std::uint32_t next = start;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    next += std::exchange(place_of[i], next);
    node[first + i].dependents_end() = next;
  }
  dependents_.Grow(next - start, [](TaskIndex*, std::size_t) {});  // All are written below.
  Segmented<TaskIndex>::Cursor dependent(dependents_);
  std::vector<TaskIndex> reachable;
  target = batch.dependencies.data();
  for (TaskIndex task = first; const std::uint32_t count : batch.dependency_count) {
    bool is_reachable = count == 0;
    for (const std::uint32_t* last = target + count; target < last; ++target) {
      if ((*target & TaskBatch::kInBatchBit) == 0) {
        is_reachable = true;
      } else {
        dependent[place_of[*target ^ TaskBatch::kInBatchBit]++] = task;
      }
    }
    if (is_reachable) reachable.push_back(task);
    ++task;
  }
  return reachable;
}

bool Edges::Append(TaskCell& dependency, TaskIndex dependent) {
  has_lists_.store(true, std::memory_order_relaxed);
  links_.Grow(1);
  const auto place = static_cast<std::uint32_t>(links_.size());
  Link& link = links_[place - 1];
  link.dependent = dependent;
  std::uint32_t head = dependency.later_dependents().load(std::memory_order_acquire);
  while (head != TaskCell::kClosed) {
    link.next = head;
    if (dependency.later_dependents().compare_exchange_weak(head, place, std::memory_order_release,
                                                            std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

}  // namespace jackdaw
