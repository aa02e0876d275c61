#include "scheduler/pool/fifo_queue.h"

namespace jackdaw {

bool FifoQueue::Push(Task* task, From from) {
  absl::MutexLock lock(&mutex_);
  if (closed_ && (from == From::kOutside || is_over())) return false;
  ring_.Push(task);
  ++unfinished_;
  changed_.Signal();
  return true;
}

FifoQueue::Taken FifoQueue::Take() {
  absl::MutexLock lock(&mutex_);
  while (ring_.empty() && !is_over()) changed_.Wait(&mutex_);
  return Pop();
}

FifoQueue::Taken FifoQueue::TryTake() {
  absl::MutexLock lock(&mutex_);
  return Pop();
}

FifoQueue::Taken FifoQueue::TakeUnless(const bool& flag) {
  absl::MutexLock lock(&mutex_);
  while (!flag && ring_.empty() && !closed_) changed_.Wait(&mutex_);
  return flag ? kNothing : Pop();
}

void FifoQueue::Set(bool& flag) {
  absl::MutexLock lock(&mutex_);
  flag = true;
  changed_.SignalAll();
}

bool FifoQueue::IsSet(const bool& flag) const {
  absl::MutexLock lock(&mutex_);
  return flag;
}

void FifoQueue::Finish() {
  absl::MutexLock lock(&mutex_);
  --unfinished_;
  if (is_over()) changed_.SignalAll();
}

void FifoQueue::Close(ShutdownMode mode) {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  cancelled_ = cancelled_ || mode == ShutdownMode::kCancel;
  changed_.SignalAll();
}

std::int64_t FifoQueue::count() const {
  absl::MutexLock lock(&mutex_);
  return unfinished_;
}

FifoQueue::Taken FifoQueue::Pop() {
  if (ring_.empty()) return kNothing;
  return {ring_.Pop(), cancelled_ ? Task::Verb::kDrop : Task::Verb::kRun};
}

}  // namespace jackdaw
