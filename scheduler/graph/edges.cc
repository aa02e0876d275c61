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
  // The end of each run of dependents is a count at first, then its beginning, and moves to
  // its end as the run is filled.
  const std::uint32_t* target = batch.dependencies.data();
  dependencies_.Grow(batch.dependencies.size(), [&](TaskIndex* place, std::size_t) {
    const bool in_batch = (*target & TaskBatch::kInBatchBit) != 0;
    const TaskIndex dependency = (*target++ & ~TaskBatch::kInBatchBit) + (in_batch ? first : 0);
    if (in_batch) ++node[dependency].dependents_end();
    std::construct_at(place, dependency);
  });
  auto next = static_cast<std::uint32_t>(dependents_.size());
  const std::uint32_t start = next;
  for (std::size_t task = first; task < first + batch.size(); ++task) {
    std::uint32_t& count = node[task].dependents_end();
    next += std::exchange(count, next);
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
        const TaskIndex dependency = first + (*target ^ TaskBatch::kInBatchBit);
        dependent[node[dependency].dependents_end()++] = task;
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
