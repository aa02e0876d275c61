#include "scheduler/graph/task_cell.h"

#include <new>

namespace jackdaw {

TaskCell::~TaskCell() {
  if (state() == TaskState::kFailed) {
    status_.~Status();
  } else {
    output_.~Bytes();
  }
}

void TaskCell::SetUp(TaskKind* kind, TaskIndex index, std::uint32_t first_edge,
                     std::uint32_t edge_count, Bytes payload) {
  kind_ = kind;
  index_ = index;
  first_edge_ = first_edge;
  edge_count_ = edge_count;
  payload_ = std::move(payload);
  word_.store(WithState(edge_count, TaskState::kWaiting), std::memory_order_relaxed);
}

bool TaskCell::Move(TaskState from, TaskState to) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (StateOf(word) == from) {
    if (word_.compare_exchange_weak(word, WithState(word, to), std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

bool TaskCell::ClaimQueued(int attempt) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (StateOf(word) == TaskState::kQueued && AttemptOf(word) == attempt) {
    if (word_.compare_exchange_weak(word, WithState(word, TaskState::kRunning) | kOwned,
                                    std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

bool TaskCell::Claim(int attempt) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (StateOf(word) == TaskState::kRunning && (word & kOwned) == 0 &&
         AttemptOf(word) == attempt) {
    if (word_.compare_exchange_weak(word, word | kOwned, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void TaskCell::EndFailed(absl::Status status) {
  output_.~Bytes();
  new (&status_) absl::Status(std::move(status));
  End(TaskState::kFailed);
}

void TaskCell::EndCancelled() { End(TaskState::kCancelled); }

bool TaskCell::EndToBackoff() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  // A timed-out attempt was asked to stop for its own sake: it may be tried again.
  while ((word & kStop) == 0) {
    const std::uint64_t next = WithState(word & ~(kStop | kTimedOut | kOwned), TaskState::kBackoff);
    if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

TaskState TaskCell::RequestStop() {
  return StateOf(word_.fetch_or(kStop, std::memory_order_acq_rel));
}

bool TaskCell::RequestTimeout(int attempt) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (StateOf(word) == TaskState::kRunning && AttemptOf(word) == attempt) {
    if (word_.compare_exchange_weak(word, word | kTimedOut, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

}  // namespace jackdaw
