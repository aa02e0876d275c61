// ParallelRange: what the parallel algorithms are made of. It does the items [0, count) in
// chunks on the calling worker, and gives half of what is left away whenever somebody could
// take it: lazy binary splitting (Tzannes et al., PPoPP 2010), driven by thieves and by pace.
//
// Before each chunk it looks at the worker's own deque. If that is empty, thieves would go
// without, and if the rest is worth it (see grain.h), the upper half of the rest is forked.
// So an undisturbed loop forks once per halving, however many items it has.
//
// Invariants
//   (1) Every fork is joined before the call returns, whatever fails.
//   (2) After the first error nobody begins another chunk. That error is kept.
//   (3) The pieces nest: each is at most half of the one it was split from, so a loop of n
//       items needs at most log2(n) + 1 frames of one stack, and those of kMaxHelpDepth waits.
//   (4) Parts are merged in the order of their items.
//
// A leaf says what to do; its methods are called by several threads at once:
//   using Part              what one piece gathers; default-constructed for each.
//   Status Run(Part&, std::int64_t begin, std::int64_t end)   does these items; may throw.
//   void Merge(Part& left, Part&& right)                      may throw.
//   bool Wants(std::int64_t begin)    whether items from `begin` on are still of interest.
//
// Where it runs: see InvokeOn() in fork_join.h. Off a WorkStealingPool nothing is split.

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_RANGE_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_RANGE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/grain.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

template <typename Leaf>
class ParallelRange {
 public:
  using Part = typename Leaf::Part;

  // Does the items [0, count) and leaves what they gave in `part`. Blocks until all that
  // began has ended. The first error, or that of a pool that is shut down.
  static absl::Status Run(Runner& pool, const ParallelOptions& options, Leaf& leaf, Part& part,
                          std::int64_t count) {
    if (count <= 0) return absl::OkStatus();
    ParallelRange range(leaf);
    const Grain grain(options, pool.size());
    const absl::Status invoked = InvokeOn(pool, [&] { range.Do(part, 0, count, grain); });
    return invoked.ok() ? range.error_ : invoked;
  }

 private:
  explicit ParallelRange(Leaf& leaf) : leaf_(leaf) {}

  void Do(Part& part, std::int64_t begin, std::int64_t end, Grain grain) {
    WorkerContext* worker = WorkerContext::Current();
    grain.Start();
    while (begin < end && Continues(begin)) {
      if (worker != nullptr && worker->Depth() == 0 && grain.WorthSharing(end - begin)) {
        return Split(part, begin, end, grain);
      }
      const std::int64_t next = begin + std::min(grain.chunk(), end - begin);
      Keep(CallForResult([&] { return leaf_.Run(part, begin, next); }));
      grain.Did(next - begin);
      begin = next;
    }
  }

  // Offers the upper half, of whole chunks, and goes on with the lower.
  void Split(Part& part, std::int64_t begin, std::int64_t end, const Grain& grain) {
    const std::int64_t chunks = (end - begin + grain.chunk() - 1) / grain.chunk();
    const std::int64_t middle =
        chunks > 1 ? begin + chunks / 2 * grain.chunk() : begin + (end - begin) / 2;
    Part upper_part{};
    auto upper = Fork([&] { Do(upper_part, middle, end, grain); });
    Do(part, begin, middle, grain);
    Keep(upper.Join());
    if (!failed_.load(std::memory_order_relaxed)) {
      Keep(CallForResult([&] { leaf_.Merge(part, std::move(upper_part)); }));
    }
  }

  [[nodiscard]] bool Continues(std::int64_t begin) const {
    return !failed_.load(std::memory_order_relaxed) && leaf_.Wants(begin);
  }

  // The winner of the exchange alone writes `error_`; who called Run() reads it after the
  // joins, which order the two.
  void Keep(absl::Status status) {
    if (status.ok() || failed_.exchange(true, std::memory_order_relaxed)) return;
    error_ = std::move(status);
  }

  Leaf& leaf_;
  std::atomic<bool> failed_{false};
  absl::Status error_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_RANGE_H_
