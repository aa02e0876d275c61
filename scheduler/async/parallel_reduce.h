// ParallelReduce: folds many values into one.
//
//   absl::StatusOr<double> sum =
//       ParallelReduce(pool, xs.begin(), xs.end(), 0.0, std::identity(), std::plus<>());
//
// `combine` must be associative; it need not be commutative, for values are combined in
// their order. Where the division falls depends on timing, and so do the last bits of a sum of
// floating-point numbers. Division, place and errors: as ParallelFor().

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_REDUCE_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_REDUCE_H_

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/parallel_items.h"
#include "scheduler/async/parallel_range.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

template <typename T, typename B, typename Map, typename Combine>
struct ReduceLeaf {
  using Part = std::optional<T>;  // Empty while nothing was done.

  absl::Status Run(Part& part, std::int64_t begin, std::int64_t end) const {
    if (!part.has_value()) part.emplace(map(ItemAt(first, begin++)));
    // A local, which the compiler keeps in a register.
    T value = std::move(*part);
    for (std::int64_t i = begin; i < end; ++i) {
      value = combine(std::move(value), map(ItemAt(first, i)));
    }
    *part = std::move(value);
    return absl::OkStatus();
  }
  void Merge(Part& left, Part&& right) const {
    left = combine(*std::move(left), *std::move(right));
  }
  [[nodiscard]] bool Wants(std::int64_t) const { return true; }

  const B first;
  Map& map;
  Combine& combine;
};

}  // namespace async_internal

// Returns combine(...combine(combine(initial, map(a)), map(b))...) over the items a, b, ... of
// [begin, end), which are numbers or elements. `initial` takes part once, so it need not be
// neutral. `map` gives something that becomes a T; `map` and `combine` are called by several
// threads at once.
template <ParallelBound B, typename T, typename Map, typename Combine>
absl::StatusOr<T> ParallelReduce(Runner& pool, B begin, std::type_identity_t<B> end, T initial,
                                 Map&& map, Combine&& combine,
                                 const ParallelOptions& options = {}) {
  using Leaf = async_internal::ReduceLeaf<T, B, std::remove_reference_t<Map>,
                                          std::remove_reference_t<Combine>>;
  Leaf leaf{begin, map, combine};
  typename Leaf::Part part;
  const absl::Status status =
      ParallelRange<Leaf>::Run(pool, options, leaf, part, ItemCount(begin, end));
  if (!status.ok()) return status;
  if (!part.has_value()) return initial;
  return CallForResult([&]() -> T { return combine(std::move(initial), *std::move(part)); });
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_REDUCE_H_
