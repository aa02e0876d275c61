// TaskBatch: tasks on their way into a job, as columns. A million tasks of one kind are a
// few vectors, not a million objects.

#ifndef JACKDAW_SCHEDULER_GRAPH_BATCH_H_
#define JACKDAW_SCHEDULER_GRAPH_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/action.h"
#include "scheduler/graph/policy.h"

namespace jackdaw {

using TaskIndex = std::uint32_t;  // A task's place in its job, from 0, in order of arrival.

struct TaskBatch {
  struct Kind {
    std::shared_ptr<Action> action;
    TaskPolicy policy;
  };

  // A dependency is the index of a task that the job has already, or InBatch(position).
  static constexpr std::uint32_t kInBatchBit = 1u << 31;
  static constexpr std::uint32_t InBatch(std::uint32_t position) { return position | kInBatchBit; }

  std::vector<Kind> kinds;
  std::vector<std::uint32_t> kind;              // One a task: its place in `kinds`.
  std::vector<std::uint32_t> dependency_count;  // One a task.
  std::vector<std::uint32_t> dependencies;      // Of the first task, of the second, ...
  std::vector<Bytes> payloads;                  // Empty, or one a task.
  std::vector<std::string> ids;  // Empty, or one a task. "": the task goes by its index.

  [[nodiscard]] std::size_t size() const { return kind.size(); }
};

// The positions of tasks on a cycle, each depending on the next and the last on the first;
// empty if there is none. Linear in tasks and dependencies; no recursion.
[[nodiscard]] std::vector<std::uint32_t> FindCycle(const TaskBatch& batch);

// INVALID_ARGUMENT when columns disagree in length, an index points nowhere, a task depends
// on itself or a policy is out of range. `existing`: tasks that the job has already.
// Cycles are FindCycle()'s, ids the job's.
[[nodiscard]] absl::Status Validate(const TaskBatch& batch, std::size_t existing);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_BATCH_H_
