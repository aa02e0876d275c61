#include "scheduler/graph/task_node.h"

namespace jackdaw {

TaskNode::Arrival TaskNode::Decide(std::uint64_t word) {
  // Nobody else will decide: only a cancel can come between.
  const TaskState next = Runs(word) ? TaskState::kQueued : TaskState::kSkipped;
  if (!Move(TaskState::kWaiting, next)) return Arrival::kNotYet;
  return next == TaskState::kQueued ? Arrival::kReady : Arrival::kSkipped;
}

bool TaskNode::Move(TaskState from, TaskState to) {
  return Update([from](std::uint64_t word) { return StateOf(word) == from; },
                [to](std::uint64_t word) { return WithState(word, to); });
}

bool TaskNode::ClaimQueued(int attempt) {
  return Update(
      [attempt](std::uint64_t word) {
        return StateOf(word) == TaskState::kQueued && AttemptOf(word) == attempt;
      },
      [](std::uint64_t word) { return WithState(word, TaskState::kRunning) | kOwned; });
}

bool TaskNode::Claim(int attempt) {
  return Update(
      [attempt](std::uint64_t word) {
        return StateOf(word) == TaskState::kRunning && (word & kOwned) == 0 &&
               AttemptOf(word) == attempt;
      },
      [](std::uint64_t word) { return word | kOwned; });
}

bool TaskNode::EndToBackoff() {
  // A timed-out attempt was asked to stop for its own sake: it may be tried again.
  return Update([](std::uint64_t word) { return (word & kStop) == 0; },
                [](std::uint64_t word) {
                  return WithState(word & ~(kStop | kTimedOut | kOwned), TaskState::kBackoff);
                });
}

TaskState TaskNode::RequestStop() {
  return StateOf(word_.fetch_or(kStop, std::memory_order_acq_rel));
}

bool TaskNode::RequestTimeout(int attempt) {
  return Update(
      [attempt](std::uint64_t word) {
        return StateOf(word) == TaskState::kRunning && AttemptOf(word) == attempt;
      },
      [](std::uint64_t word) { return word | kTimedOut; });
}

}  // namespace jackdaw
