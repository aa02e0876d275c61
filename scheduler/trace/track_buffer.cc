#include "scheduler/trace/track_buffer.h"

#include <memory>

namespace jackdaw {

void TrackBuffer::End(TrackSpan::Kind kind, std::int64_t now_ns) {
  std::size_t left = open_.size();
  while (left > 0 && open_[left - 1].kind != kind) {
    // A scope ends within its task.
    if (open_[left - 1].kind == TrackSpan::Kind::kTask) return;
    --left;
  }
  if (left == 0) return;
  while (open_.size() >= left) {
    open_.back().end_ns = now_ns;
    Keep(open_.back());
    open_.pop_back();
  }
}

void TrackBuffer::Keep(const TrackSpan& span) {
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (size == max_spans_) {
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  spans_.Grow(1, [&span](TrackSpan* place, std::size_t) { std::construct_at(place, span); });
  size_.store(size + 1, std::memory_order_release);
}

}  // namespace jackdaw
