#include "scheduler/pool/injector.h"

#include <algorithm>
#include <utility>

namespace jackdaw {
namespace {

constexpr std::size_t kFirstCapacity = 64;  // Tasks.

}  // namespace

bool Injector::Push(Task* task) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return false;
  Append(task);
  injected_.store(injected_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  size_.store(static_cast<std::int64_t>(tail_ - head_), std::memory_order_seq_cst);
  return true;
}

void Injector::PushOverflow(absl::Span<Task* const> tasks) {
  absl::MutexLock lock(&mutex_);
  for (Task* task : tasks) Append(task);
  size_.store(static_cast<std::int64_t>(tail_ - head_), std::memory_order_seq_cst);
}

std::size_t Injector::TakeBatch(absl::Span<Task*> out, int workers) {
  absl::MutexLock lock(&mutex_);
  const std::size_t size = tail_ - head_;
  if (size == 0) return 0;
  const std::size_t share = size / static_cast<std::size_t>(std::max(1, workers)) + 1;
  const std::size_t count = std::min({share, kMaxBatch, out.size(), size});
  for (std::size_t i = 0; i < count; ++i) out[i] = ring_[head_++ & (capacity_ - 1)];
  if (head_ == tail_ && capacity_ > kKeptCapacity) {
    ring_.reset();
    capacity_ = 0;
  }
  size_.store(static_cast<std::int64_t>(tail_ - head_), std::memory_order_seq_cst);
  return count;
}

bool Injector::Remove(const Task* task) {
  absl::MutexLock lock(&mutex_);
  std::size_t behind = tail_;
  while (behind != head_ && ring_[(behind - 1) & (capacity_ - 1)] != task) --behind;
  if (behind == head_) return false;
  for (; behind != tail_; ++behind) {
    ring_[(behind - 1) & (capacity_ - 1)] = ring_[behind & (capacity_ - 1)];
  }
  --tail_;
  size_.store(static_cast<std::int64_t>(tail_ - head_), std::memory_order_seq_cst);
  return true;
}

void Injector::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void Injector::Append(Task* task) {
  if (tail_ - head_ == capacity_) Grow();
  ring_[tail_++ & (capacity_ - 1)] = task;
}

void Injector::Grow() {
  const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  auto grown = std::make_unique<Task*[]>(capacity);
  const std::size_t size = tail_ - head_;
  for (std::size_t i = 0; i < size; ++i) grown[i] = ring_[(head_ + i) & (capacity_ - 1)];
  ring_ = std::move(grown);
  capacity_ = capacity;
  head_ = 0;
  tail_ = size;
}

}  // namespace jackdaw
