#include "scheduler/pool/injector_lanes.h"

namespace jackdaw {

bool InjectorLanes::HasTask() const {
  if (Lane(Priority::kNormal).HasTask()) return true;
  if (!raised_.load(std::memory_order_seq_cst)) return false;
  return Lane(Priority::kHigh).HasTask() || Lane(Priority::kLow).HasTask();
}

std::size_t InjectorLanes::TakeInTurn(absl::Span<Task*> out, int workers) {
  const auto take = [&](std::size_t lane) {
    const bool is_low = lane == static_cast<std::size_t>(Priority::kLow);
    return lanes_[lane].TakeBatch(is_low ? out.first(1) : out, workers);
  };
  const std::size_t next = NextLane();
  std::size_t count = take(next);
  // Another worker may have been quicker there.
  for (std::size_t lane = lanes_.size(); count == 0 && lane > 0; --lane) count = take(lane - 1);
  return count;
}

// Also counts that the lanes below it are passed over.
std::size_t InjectorLanes::NextLane() {
  std::size_t highest = 0;
  std::size_t next = lanes_.size();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].SizeEstimate() == 0) continue;
    highest = lane;
    const bool impatient = passed_over_[lane].load(std::memory_order_relaxed) >= kPatience;
    if (impatient && next == lanes_.size()) next = lane;
  }
  if (next == lanes_.size()) next = highest;
  passed_over_[next].store(0, std::memory_order_relaxed);
  for (std::size_t lane = 0; lane < highest; ++lane) {
    if (lane == next || lanes_[lane].SizeEstimate() == 0) continue;
    passed_over_[lane].fetch_add(1, std::memory_order_relaxed);
  }
  return next;
}

}  // namespace jackdaw
