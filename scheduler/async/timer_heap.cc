#include "scheduler/async/timer_heap.h"

#include <algorithm>
#include <utility>

namespace jackdaw {

std::uint64_t TimerHeap::Add(std::int64_t due_ns, Callback callback) {
  const std::uint32_t slot = TakeSlot();
  slots_[slot].callback = std::move(callback);
  heap_.emplace_back();
  MoveUp(heap_.size() - 1, Entry{due_ns, added_++, slot});
  return (std::uint64_t{slots_[slot].generation} << 32) | slot;
}

bool TimerHeap::Remove(std::uint64_t id, Callback& callback) {
  const auto slot = static_cast<std::uint32_t>(id);
  if (slot >= slots_.size()) return false;
  if (slots_[slot].generation != id >> 32 || slots_[slot].position == kFree) return false;
  callback = RemoveAt(slots_[slot].position);
  return true;
}

bool TimerHeap::PopDue(std::int64_t now_ns, std::uint64_t limit, Callback& callback) {
  if (heap_.empty() || heap_[0].due_ns > now_ns || heap_[0].sequence >= limit) return false;
  callback = RemoveAt(0);
  return true;
}

std::uint32_t TimerHeap::TakeSlot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

TimerHeap::Callback TimerHeap::RemoveAt(std::size_t position) {
  const std::uint32_t index = heap_[position].slot;
  Slot& slot = slots_[index];
  Callback callback = std::exchange(slot.callback, nullptr);
  slot.position = kFree;
  if (++slot.generation != 0) free_.push_back(index);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return callback;
  if (position > 0 && last.Before(heap_[(position - 1) / kArity])) {
    MoveUp(position, last);
  } else {
    MoveDown(position, last);
  }
  return callback;
}

void TimerHeap::Place(std::size_t position, const Entry& entry) {
  heap_[position] = entry;
  slots_[entry.slot].position = static_cast<std::uint32_t>(position);
}

void TimerHeap::MoveUp(std::size_t position, const Entry& entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (!entry.Before(heap_[parent])) break;
    Place(position, heap_[parent]);
    position = parent;
  }
  Place(position, entry);
}

void TimerHeap::MoveDown(std::size_t position, const Entry& entry) {
  for (;;) {
    const std::size_t first = position * kArity + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].Before(heap_[least])) least = child;
    }
    if (!heap_[least].Before(entry)) break;
    Place(position, heap_[least]);
    position = least;
  }
  Place(position, entry);
}

}  // namespace jackdaw
