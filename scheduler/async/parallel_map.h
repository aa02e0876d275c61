// ParallelMap, ParallelAll, ParallelBoth: results of many calls, in the order of the calls.
//
// Division, place and errors: as ParallelFor(). A function may return a value or a StatusOr.

#ifndef JACKDAW_SCHEDULER_ASYNC_PARALLEL_MAP_H_
#define JACKDAW_SCHEDULER_ASYNC_PARALLEL_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/parallel_items.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

// What `f` gives for an item of a range that begins with a B.
template <typename B, typename F>
using MappedValue = ResultValue<std::invoke_result_t<F&, decltype(ItemAt(std::declval<B>(), 0))>>;

}  // namespace async_internal

// Returns f(item) for each item of [begin, end), numbers or elements. `f` is called by several
// threads at once.
template <ParallelBound B, typename F>
absl::StatusOr<std::vector<async_internal::MappedValue<B, F>>> ParallelMap(
    Runner& pool, B begin, std::type_identity_t<B> end, F&& f,
    const ParallelOptions& options = {}) {
  using T = async_internal::MappedValue<B, F>;
  static_assert(!std::is_void_v<T>, "without a result it is a ParallelFor()");
  const std::int64_t count = ItemCount(begin, end);
  // Not a vector of T: T may have no default value, and a vector of bool shares its bytes.
  std::vector<std::optional<T>> slots(static_cast<std::size_t>(count));
  absl::Status status = ParallelFor(
      pool, std::int64_t{0}, count,
      [&](std::int64_t i) -> absl::Status {
        absl::StatusOr<T> result = f(ItemAt(begin, i));
        if (!result.ok()) return std::move(result).status();
        slots[static_cast<std::size_t>(i)].emplace(*std::move(result));
        return absl::OkStatus();
      },
      options);
  if (!status.ok()) return status;
  std::vector<T> values;
  values.reserve(slots.size());
  for (std::optional<T>& slot : slots) values.push_back(*std::move(slot));
  return values;
}

// Calls all `functions` and returns what they returned. Each is taken to be worth sharing.
template <typename F>
auto ParallelAll(Runner& pool, const std::vector<F>& functions) {
  return ParallelMap(pool, functions.begin(), functions.end(),
                     [](const F& function) { return function(); }, {.chunk = 1});
}

// Calls `f` and `g` and returns both results; both have ended, whatever happened to either.
template <typename F, typename G>
auto ParallelBoth(Runner& pool, F&& f, G&& g) {
  using A = ResultValue<std::invoke_result_t<F&>>;
  using B = ResultValue<std::invoke_result_t<G&>>;
  using Pair = std::pair<A, B>;
  std::optional<FutureResult<A>> a;
  std::optional<FutureResult<B>> b;
  const absl::Status status = InvokeOn(
      pool, [&] { return StatusOf(a.emplace(CallForResult(f))); },
      [&] { return StatusOf(b.emplace(CallForResult(g))); });
  if (!status.ok()) return absl::StatusOr<Pair>(status);
  return absl::StatusOr<Pair>(Pair(**std::move(a), **std::move(b)));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PARALLEL_MAP_H_
