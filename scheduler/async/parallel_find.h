// ParallelFind: the first item that a predicate accepts.
//
// It stops early: once an item is found, what lies behind it is left alone. What lies before it
// is searched to the end, so the answer does not depend on timing. Division, place and errors:
// as ParallelFor().

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_FIND_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_FIND_H_

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/parallel_items.h"
#include "scheduler/async/parallel_range.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

template <typename B, typename Predicate>
struct FindLeaf {
  struct Part {};

  absl::Status Run(Part&, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (predicate(ItemAt(first, i))) {
        Found(i);
        break;
      }
    }
    return absl::OkStatus();
  }
  void Merge(Part&, Part&&) const {}
  // Relaxed: an old value only means more searching.
  [[nodiscard]] bool Wants(std::int64_t begin) const {
    return begin < best.load(std::memory_order_relaxed);
  }

  void Found(std::int64_t index) {
    std::int64_t before = best.load(std::memory_order_relaxed);
    while (index < before &&
           !best.compare_exchange_weak(before, index, std::memory_order_relaxed)) {
    }
  }

  const B first;
  Predicate& predicate;
  std::atomic<std::int64_t> best;  // The first one found so far; at first, the count.
};

}  // namespace async_internal

// Returns the first item of [begin, end) for which `predicate(item)` is true, as a number or an
// iterator; `end` if there is none. `predicate` is called by several threads at once.
template <ParallelBound B, typename Predicate>
absl::StatusOr<B> ParallelFind(Runner& pool, B begin, std::type_identity_t<B> end,
                               Predicate&& predicate, const ParallelOptions& options = {}) {
  using Leaf = async_internal::FindLeaf<B, std::remove_reference_t<Predicate>>;
  const std::int64_t count = ItemCount(begin, end);
  Leaf leaf{begin, predicate, count};
  typename Leaf::Part part;
  const absl::Status status = ParallelRange<Leaf>::Run(pool, options, leaf, part, count);
  if (!status.ok()) return status;
  const std::int64_t best = leaf.best.load(std::memory_order_relaxed);
  return best == count ? end : BoundAt(begin, best);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_FIND_H_
