// TaskCell: a task as the pool runs it and as those see it who have more to do with it than to
// count its dependencies: its action, its outcome, its later dependents. The state and all
// else that a small task needs while it runs is in its node, see task_node.h.
//
// Thread safety: as TaskNode says of the outcome; the rest never changes, but for the atomic.

#ifndef JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_
#define JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "scheduler/base/bytes.h"
#include "scheduler/graph/action.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/policy.h"
#include "scheduler/graph/task_node.h"
#include "scheduler/graph/task_times.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class JobImpl;

// What many tasks of one batch have in common.
struct TaskKind {
  static constexpr std::uint32_t kNoPayloads = 0xffffffff;

  std::shared_ptr<Action> action;
  TaskPolicy policy;
  JobImpl* job = nullptr;
  bool instant = false;
  // The payload of task i is the job's payload i - payload_shift.
  std::uint32_t payload_shift = kNoPayloads;
};

class TaskCell final : public Task {
 public:
  TaskCell(TaskKind* kind, TaskIndex index) : Task(&TaskCell::Invoke), kind_(kind), index_(index) {}

  [[nodiscard]] TaskIndex index() const { return index_; }
  [[nodiscard]] TaskKind& kind() const { return *kind_; }

  // Before the node ends; by the owner. The output of a task that SUCCEEDED, the message of
  // one that FAILED.
  void SetOutcome(Bytes outcome) { outcome_ = std::move(outcome); }
  // Requires that the node's state was read, and is SUCCEEDED or FAILED.
  [[nodiscard]] const Bytes& outcome() const { return outcome_; }

  // The head of the list of its later dependents; 0: none; kClosed: the task has ended and
  // takes no more.
  static constexpr std::uint32_t kClosed = 0xffffffff;
  std::atomic<std::uint32_t>& later_dependents() { return later_dependents_; }

 private:
  static void Invoke(Task* task, Verb verb) noexcept;

  TaskKind* const kind_;
  Bytes outcome_;
  const TaskIndex index_;
  std::atomic<std::uint32_t> later_dependents_{0};
};

static_assert(sizeof(TaskNode) + sizeof(TaskCell) + sizeof(TaskTimes) == 64,
              "beside it 4 bytes for its place among the edges, 8 an edge");

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_TASK_CELL_H_
