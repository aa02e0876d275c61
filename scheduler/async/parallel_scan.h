// ParallelInclusiveScan, ParallelExclusiveScan: all the partial results of a fold.
//
// With P workers the items are cut into P + 1 blocks. First block 0 is scanned, and at the
// same time blocks 1 to P - 1 are folded; from their folds follows with what each later block
// begins; then these are scanned at once. Each item is touched at most twice, and with P
// workers it takes 2 / (P + 1) of the time of one: more blocks would touch more items twice.
//
// `combine` must be associative; it need not be commutative. The output may be the input
// itself. Place and errors as ParallelFor(); after an error the output is of no use.

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_SCAN_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

// Items below which a block does not pay, unless ParallelOptions::chunk says otherwise.
inline constexpr std::int64_t kMinScanBlock = 2048;

enum class ScanKind { kInclusive, kExclusive };

template <ScanKind kind, typename T, typename In, typename Out, typename Combine>
class ParallelScan {
 public:
  ParallelScan(In in, std::int64_t count, Out out, Combine& combine)
      : in_(in), out_(out), count_(count), combine_(combine) {}

  absl::Status Run(Runner& pool, std::optional<T> initial, const ParallelOptions& options) {
    const std::int64_t least = options.chunk > 0 ? options.chunk : kMinScanBlock;
    blocks_ = std::clamp<std::int64_t>(count_ / least, 1, std::max(1, pool.size()) + 1);
    carry_.resize(static_cast<std::size_t>(blocks_));
    carry_[0] = std::move(initial);
    return InvokeOn(pool, [&] { return OnWorker(pool); });
  }

 private:
  absl::Status OnWorker(Runner& pool) {
    const ParallelOptions each{.chunk = 1};
    std::vector<std::optional<T>> folds(static_cast<std::size_t>(blocks_));
    // The last block's fold is nobody's beginning.
    const absl::Status first = ParallelFor(
        pool, std::int64_t{0}, std::max<std::int64_t>(1, blocks_ - 1),
        [&](std::int64_t block) {
          std::optional<T>& fold = folds[static_cast<std::size_t>(block)];
          fold = block == 0 ? Scan(0) : Fold(block);
        },
        each);
    if (!first.ok()) return first;
    for (std::size_t block = 1; block < carry_.size(); ++block) {
      carry_[block] = block == 1 ? folds[0] : combine_(*carry_[block - 1], *folds[block - 1]);
    }
    return ParallelFor(
        pool, std::int64_t{1}, blocks_, [&](std::int64_t block) { (void)Scan(block); }, each);
  }

  [[nodiscard]] std::int64_t Begin(std::int64_t block) const {
    return count_ / blocks_ * block + std::min(block, count_ % blocks_);
  }

  // Writes the scan of `block`; returns what the block after it begins with.
  std::optional<T> Scan(std::int64_t block) {
    std::optional<T> carry = carry_[static_cast<std::size_t>(block)];
    std::int64_t i = Begin(block);
    const std::int64_t end = Begin(block + 1);
    if (i == end) return carry;
    if (!carry.has_value()) {
      carry.emplace(in_[i]);
      out_[i++] = *carry;
    }
    T value = *std::move(carry);
    for (; i < end; ++i) {
      if constexpr (kind == ScanKind::kInclusive) {
        value = combine_(std::move(value), in_[i]);
        out_[i] = value;
      } else {
        T next = combine_(value, in_[i]);  // Before the output, which may be the input.
        out_[i] = std::move(value);
        value = std::move(next);
      }
    }
    return value;
  }

  // Requires: a block that is not empty, as all are but the only one of no items.
  std::optional<T> Fold(std::int64_t block) const {
    std::int64_t i = Begin(block);
    T value = in_[i];
    for (++i; i < Begin(block + 1); ++i) value = combine_(std::move(value), in_[i]);
    return value;
  }

  const In in_;
  const Out out_;
  const std::int64_t count_;
  Combine& combine_;
  std::int64_t blocks_ = 1;
  std::vector<std::optional<T>> carry_;  // What each block begins with.
};

}  // namespace async_internal

// Writes combine(...combine(x0, x1)..., xi) to out[i], for each item x of [first, last). Random
// access iterators; `out` has room for as many.
template <std::random_access_iterator In, std::random_access_iterator Out, typename Combine>
absl::Status ParallelInclusiveScan(Runner& pool, In first, In last, Out out, Combine&& combine,
                                   const ParallelOptions& options = {}) {
  using T = std::iter_value_t<In>;
  async_internal::ParallelScan<async_internal::ScanKind::kInclusive, T, In, Out,
                               std::remove_reference_t<Combine>>
      scan(first, last - first, out, combine);
  return scan.Run(pool, std::nullopt, options);
}

// The same without xi, and beginning with `initial`, which is out[0].
template <std::random_access_iterator In, std::random_access_iterator Out, typename T,
          typename Combine>
absl::Status ParallelExclusiveScan(Runner& pool, In first, In last, Out out, T initial,
                                   Combine&& combine, const ParallelOptions& options = {}) {
  async_internal::ParallelScan<async_internal::ScanKind::kExclusive, T, In, Out,
                               std::remove_reference_t<Combine>>
      scan(first, last - first, out, combine);
  return scan.Run(pool, std::move(initial), options);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_SCAN_H_
