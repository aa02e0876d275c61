// ParallelFor: a loop whose iterations may run at once, in any order.
//
//   std::vector<double> squares(n);
//   absl::Status status = ParallelFor(pool, 0, n, [&](int i) { squares[i] = 1.0 * i * i; });
//   status = ParallelFor(pool, names.begin(), names.end(), [](std::string& name) { Trim(name); });
//
// Where it runs: on the workers of `pool`. The caller blocks, without spinning, until all has
// ended; a worker of `pool` takes part and helps only with this loop. A pool without threads
// leaves all of it to the caller. A worker of another pool blocks: mind a circle of pools.
//
// Division: adaptive, or by ParallelOptions::chunk; see parallel_range.h, also for the bound of
// the stack. A chunk is not interrupted: few expensive items among very many cheap ones spread
// best with a small fixed chunk.
//
// Errors: the body may return absl::Status, and may throw, which is UNKNOWN. After the
// first error no other chunk begins, what runs is waited for, and that error is returned;
// items after it may or may not have run. CANCELLED or UNAVAILABLE when the pool shuts down.

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_FOR_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_FOR_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/parallel_items.h"
#include "scheduler/async/parallel_range.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

template <typename B, typename Body>
struct ForLeaf {
  struct Part {};

  absl::Status Run(Part&, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<decltype(body(ItemAt(first, i))), absl::Status>) {
        absl::Status status = body(ItemAt(first, i));
        if (!status.ok()) return status;
      } else {
        (void)body(ItemAt(first, i));
      }
    }
    return absl::OkStatus();
  }
  void Merge(Part&, Part&&) const {}
  [[nodiscard]] bool Wants(std::int64_t) const { return true; }

  const B first;
  Body& body;
};

}  // namespace async_internal

// Calls `body(item)` once for each item of [begin, end): numbers, or elements by reference.
// `body` is called by several threads at once.
template <ParallelBound B, typename Body>
absl::Status ParallelFor(Runner& pool, B begin, std::type_identity_t<B> end, Body&& body,
                         const ParallelOptions& options = {}) {
  using Leaf = async_internal::ForLeaf<B, std::remove_reference_t<Body>>;
  Leaf leaf{begin, body};
  typename Leaf::Part part;
  return ParallelRange<Leaf>::Run(pool, options, leaf, part, ItemCount(begin, end));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_FOR_H_
