#include "scheduler/graph/edges.h"

namespace jackdaw {

void Edges::AddBatch(const TaskBatch& batch, TaskIndex first, Segmented<TaskCell>& cells) {
  std::uint32_t edge = size();
  dependencies_.Grow(batch.dependencies.size());
  std::vector<std::uint32_t> place(batch.size() + 1, 0);  // First a count, then where to write.
  for (const std::uint32_t target : batch.dependencies) {
    const bool in_batch = (target & TaskBatch::kInBatchBit) != 0;
    const std::uint32_t position = target & ~TaskBatch::kInBatchBit;
    dependencies_[edge++] = in_batch ? first + position : position;
    if (in_batch) ++place[position];
  }
  auto next = static_cast<std::uint32_t>(dependents_.size());
  const std::uint32_t start = next;
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t count = place[i];
    cells[first + i].SetDependents(next, count);
    place[i] = next;
    next += count;
  }
  dependents_.Grow(next - start);
  std::size_t e = 0;
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    for (std::uint32_t k = 0; k < batch.dependency_count[i]; ++k, ++e) {
      const std::uint32_t target = batch.dependencies[e];
      if ((target & TaskBatch::kInBatchBit) == 0) continue;
      dependents_[place[target ^ TaskBatch::kInBatchBit]++] = first + i;
    }
  }
}

bool Edges::Append(TaskCell& dependency, TaskIndex dependent) {
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
