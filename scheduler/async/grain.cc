#include "scheduler/async/grain.h"

#include <algorithm>

namespace jackdaw {

Grain::Grain(const ParallelOptions& options, int workers)
    : clock_(options.chunk > 0 ? nullptr : options.clock),
      workers_(workers),
      chunk_(std::max<std::int64_t>(1, options.chunk)) {}

void Grain::Start() {
  if (clock_ != nullptr) begin_ns_ = clock_->MonotonicNanos();
}

void Grain::Did(std::int64_t items) {
  if (clock_ == nullptr) return;
  const std::int64_t now_ns = clock_->MonotonicNanos();
  const std::int64_t took_ns = std::max<std::int64_t>(1, now_ns - begin_ns_);
  begin_ns_ = now_ns;
  ns_per_item_ = static_cast<double>(took_ns) / static_cast<double>(items);
  if (took_ns < kChunkNs / 2) {
    chunk_ = std::min(chunk_ * 2, kMaxChunk);
  } else if (took_ns > kChunkNs * 2) {
    chunk_ = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(kChunkNs) / ns_per_item_), 1, chunk_);
  }
}

bool Grain::WorthSharing(std::int64_t left) const {
  if (workers_ < 2 || left < 2) return false;
  if (clock_ == nullptr) return left > chunk_;
  if (ns_per_item_ < 0) return left <= kFewItems * workers_;
  return static_cast<double>(left) * ns_per_item_ >= static_cast<double>(kWorthSharingNs);
}

}  // namespace jackdaw
