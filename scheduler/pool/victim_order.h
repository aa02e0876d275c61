// VictimOrder: in which order a searching worker looks at the others. Every sweep visits each
// of them exactly once: the nearest first, and in random order among those equally near. Every
// kUniformSweep-th sweep takes no notice of distance, so that a far worker with much to give
// is not always the last to be robbed.
//
// Thread safety: none; each worker has its own.

#ifndef JACKDAW_SCHEDULER_POOL_VICTIM_ORDER_H_
#define JACKDAW_SCHEDULER_POOL_VICTIM_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "scheduler/base/random.h"

namespace jackdaw {

class VictimOrder {
 public:
  static constexpr std::uint32_t kUniformSweep = 4;

  // For worker `self`; `distances[i]` is how far worker i is from it.
  VictimOrder(int self, absl::Span<const int> distances) {
    for (std::size_t i = 0; i < distances.size(); ++i) {
      if (static_cast<int>(i) != self) victims_.push_back({static_cast<int>(i), distances[i]});
    }
    std::stable_sort(victims_.begin(), victims_.end(), Nearer);
    one_tier_ = victims_.empty() || victims_.front().distance == victims_.back().distance;
  }

  // Calls `visit` with one worker after the other until it returns true; whether it did.
  template <typename Visit>
  bool Sweep(Random& random, Visit&& visit) {
    const bool uniform = one_tier_ || ++sweeps_ % kUniformSweep == 0;
    const bool stopped =
        uniform ? SweepRange(0, victims_.size(), random, visit) : SweepTiers(random, visit);
    if (uniform && !one_tier_) std::sort(victims_.begin(), victims_.end(), Nearer);
    return stopped;
  }

 private:
  struct Victim {
    int worker;
    int distance;
  };
  static bool Nearer(const Victim& a, const Victim& b) { return a.distance < b.distance; }

  template <typename Visit>
  bool SweepTiers(Random& random, Visit& visit) {
    for (std::size_t begin = 0; begin < victims_.size();) {
      std::size_t end = begin + 1;
      while (end < victims_.size() && victims_[end].distance == victims_[begin].distance) ++end;
      if (SweepRange(begin, end, random, visit)) return true;
      begin = end;
    }
    return false;
  }

  // Draws without replacement from [begin, end): Fisher and Yates, as far as needed.
  template <typename Visit>
  bool SweepRange(std::size_t begin, std::size_t end, Random& random, Visit& visit) {
    for (std::size_t left = end - begin; left > 0; --left) {
      Victim& last = victims_[begin + left - 1];
      std::swap(last, victims_[begin + random.Below(left)]);
      if (visit(last.worker)) return true;
    }
    return false;
  }

  std::vector<Victim> victims_;  // By tiers, between two sweeps.
  bool one_tier_;
  std::uint32_t sweeps_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_VICTIM_ORDER_H_
