// Grain: how many items of a loop one worker does between two looks up, and whether what is
// left is worth sharing. One per piece of a loop; see parallel_range.h.
//
// It starts with one item and doubles until a chunk takes about kChunkNs, so that the looks
// cost about a percent; when a chunk takes longer than twice that, it shrinks in proportion.
// The pace of the last chunk says what the rest is worth. Handing work to another core costs
// half a microsecond, waking a sleeping one up to a hundred: below kWorthSharingNs a loop stays
// where it is. With a fixed chunk it never reads the clock, and all that is more than a chunk
// is worth sharing.
//
// Thread safety: none; each piece has a copy.

#ifndef JACKDAW_SCHEDULER_ASYNC_GRAIN_H_
#define JACKDAW_SCHEDULER_ASYNC_GRAIN_H_

#include <cstdint>

#include "scheduler/base/clock.h"

namespace jackdaw {

// How a parallel algorithm divides its work.
struct ParallelOptions {
  // Items that are done one after another without a look at who wants work, and the least
  // that is handed over. 0: adapts to what they cost.
  std::int64_t chunk = 0;
  Clock* clock = &Clock::Real();
};

class Grain {
 public:
  static constexpr std::int64_t kChunkNs = 5'000;
  static constexpr std::int64_t kWorthSharingNs = 20'000;
  static constexpr std::int64_t kMaxChunk = std::int64_t{1} << 20;  // Items.
  // While nothing is known of the pace, a loop of at most so many items for each worker is
  // taken to be one of few expensive ones, and shared at once.
  static constexpr std::int64_t kFewItems = 16;

  // For a loop that `workers` threads may share.
  Grain(const ParallelOptions& options, int workers);

  // Begins to measure. On the thread that does the piece, before its first chunk.
  void Start();
  // A chunk of `items` has been done since Start() or the last call.
  void Did(std::int64_t items);

  // How many items to do next, at least 1.
  [[nodiscard]] std::int64_t chunk() const { return chunk_; }
  // Whether a part of the `left` items should go to a worker that has nothing to do.
  [[nodiscard]] bool WorthSharing(std::int64_t left) const;

 private:
  Clock* clock_;  // Null where the chunk is fixed.
  int workers_;
  std::int64_t chunk_;
  std::int64_t begin_ns_ = 0;
  double ns_per_item_ = -1;  // Of the last chunk; negative while there was none.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_GRAIN_H_
