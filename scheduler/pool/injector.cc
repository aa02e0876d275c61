#include "scheduler/pool/injector.h"

#include <utility>

namespace jackdaw {

Injector::Injector() : back_{TakeSpare(), 0}, front_(back_) {}

Injector::~Injector() {
  for (Block* block = front_.block; block != nullptr;) delete std::exchange(block, block->next);
  delete spare_.load(std::memory_order_relaxed);
}

bool Injector::Push(Task* task) {
  absl::MutexLock lock(&push_mutex_);
  if (closed_) return false;
  Append(task);
  injected_.store(injected_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  return true;
}

void Injector::PushOverflow(absl::Span<Task* const> tasks) {
  const auto count = static_cast<std::int64_t>(tasks.size());
  absl::MutexLock lock(&push_mutex_);
  for (Task* task : tasks) Append(task);
  tail_.store(tail_.load(std::memory_order_relaxed) + count, std::memory_order_seq_cst);
}

std::size_t Injector::TakeBatch(absl::Span<Task*> out, int workers) {
  absl::MutexLock lock(&take_mutex_);
  std::int64_t head = head_.load(std::memory_order_relaxed);
  const auto size = static_cast<std::size_t>(tail_.load(std::memory_order_acquire) - head);
  const std::size_t share = size / static_cast<std::size_t>(std::max(1, workers)) + 1;
  const std::size_t wanted = std::min({share, kMaxBatch, out.size()});
  std::size_t count = 0;
  for (std::size_t left = size; left > 0 && count < wanted; --left) {
    if (front_.slot == Block::kSlots) {
      Block* empty = std::exchange(front_, Place{front_.block->next, 0}).block;
      KeepOrFree(empty);
    }
    Task* task = front_.block->slots[front_.slot++];
    ++head;
    if (task != nullptr) out[count++] = task;
  }
  head_.store(head, std::memory_order_release);
  return count;
}

bool Injector::Remove(const Task* task) {
  absl::MutexLock lock(&take_mutex_);
  const std::int64_t tail = tail_.load(std::memory_order_acquire);
  Place at = front_;
  for (std::int64_t i = head_.load(std::memory_order_relaxed); i < tail; ++i, ++at.slot) {
    if (at.slot == Block::kSlots) at = {at.block->next, 0};
    Task*& slot = at.block->slots[at.slot];
    if (slot != task) continue;
    slot = nullptr;
    return true;
  }
  return false;
}

void Injector::Close() {
  absl::MutexLock lock(&push_mutex_);
  closed_ = true;
}

void Injector::Append(Task* task) {
  if (back_.slot == Block::kSlots) {
    Block* block = TakeSpare();
    back_.block->next = block;
    back_ = {block, 0};
  }
  back_.block->slots[back_.slot++] = task;
}

Injector::Block* Injector::TakeSpare() {
  Block* block = spare_.exchange(nullptr, std::memory_order_acq_rel);
  if (block == nullptr) block = new Block;
  block->next = nullptr;
  return block;
}

void Injector::KeepOrFree(Block* block) {
  delete spare_.exchange(block, std::memory_order_acq_rel);
}

}  // namespace jackdaw
