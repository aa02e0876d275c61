#include "scheduler/graph/concurrency_limit.h"

namespace jackdaw {

bool ConcurrencyLimit::Acquire(TaskCell* cell) {
  absl::MutexLock lock(&mutex_);
  if (promised_.erase(cell) > 0) return true;
  if (in_use_ < limit_) {
    ++in_use_;
    return true;
  }
  waiting_.push_back(cell);
  return false;
}

TaskCell* ConcurrencyLimit::PassOn() {
  if (waiting_.empty()) {
    --in_use_;
    return nullptr;
  }
  TaskCell* next = waiting_.front();
  waiting_.pop_front();
  promised_.insert(next);
  return next;
}

TaskCell* ConcurrencyLimit::Release() {
  absl::MutexLock lock(&mutex_);
  return PassOn();
}

TaskCell* ConcurrencyLimit::Forget(TaskCell* cell) {
  absl::MutexLock lock(&mutex_);
  return promised_.erase(cell) > 0 ? PassOn() : nullptr;
}

std::int64_t ConcurrencyLimit::in_use() const {
  absl::MutexLock lock(&mutex_);
  return in_use_;
}

std::int64_t ConcurrencyLimit::waiting() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<std::int64_t>(waiting_.size());
}

}  // namespace jackdaw
