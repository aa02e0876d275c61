// Groups of fibers, each in a scope of its own (scope.h), so that none is left behind:
//
//   AllOf(bodies)                 all; the first failure cancels the others
//   BothOf(a, b)                  the same, of two of different types
//   AnyOf(bodies)                 the first to end, be it with an error; cancels the others
//   FirstOf(bodies)               the first to succeed; cancels the others
//   MaxInFlight(limit, items, f)  `f` of each item, so many at a time
//
// Each gives a CoTask, to be awaited by a coroutine that was spawned. A body is a function that
// makes a coroutine, a coroutine, or a plain function. Unlike WhenAll(), WhenAny() and their
// like, which wait for work that somebody started, these start it, and have ended it when they
// give their result.
//
// Thread safety: bodies run at once on many workers.
//
// Errors: those of the bodies, combined (combined_error.h); CANCELLED where what is around is
// cancelled.

#ifndef JACKDAW_SCHEDULER_ASYNC_FIBER_GROUPS_H_
#define JACKDAW_SCHEDULER_ASYNC_FIBER_GROUPS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/fiber_contest.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/scope.h"

namespace jackdaw {
namespace async_internal {

// The values of fibers of which none has failed. One that was cancelled alone has an error, which
// is then that of all.
template <typename V>
FutureResult<AllValues<V>> Gather(std::vector<Fiber<V>>& fibers) {
  for (const Fiber<V>& fiber : fibers) {
    if (!fiber.is_success()) return StatusOf(*fiber.Peek());
  }
  if constexpr (std::is_void_v<V>) {
    return absl::OkStatus();
  } else {
    std::vector<V> values;
    values.reserve(fibers.size());
    for (Fiber<V>& fiber : fibers) {
      FutureResult<V> result = std::move(fiber).Take();
      values.push_back(*std::move(result));
    }
    return values;
  }
}

// The same of results that are all there and good, unless a cancel from around came first.
template <typename V>
FutureResult<AllValues<V>> GatherAll(std::vector<std::optional<FutureResult<V>>>& results) {
  for (const auto& result : results) {
    if (!result.has_value()) return CancelRequestedError();
  }
  if constexpr (std::is_void_v<V>) {
    return absl::OkStatus();
  } else {
    std::vector<V> values;
    values.reserve(results.size());
    for (auto& result : results) values.push_back(**std::move(result));
    return values;
  }
}

}  // namespace async_internal

// The values in the order of the bodies; for void, nothing. Of none: at once.
template <typename F>
auto AllOf(std::vector<F> bodies)
    -> CoTask<FutureResult<AllValues<async_internal::FiberValue<F>>>> {
  using V = async_internal::FiberValue<F>;
  std::vector<Fiber<V>> fibers;
  auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
    for (F& body : bodies) {
      fibers.push_back(scope.Spawn(std::move(body)));
      fibers.back().Ignore();  // Looked at after the scope.
    }
    co_return;
  });
  const absl::Status ended = co_await run;
  if (!ended.ok()) co_return ended;
  co_return async_internal::Gather(fibers);
}

// The values of both, neither of which is void.
template <typename A, typename B>
auto BothOf(A a, B b) -> CoTask<
    absl::StatusOr<std::pair<async_internal::FiberValue<A>, async_internal::FiberValue<B>>>> {
  using First = async_internal::FiberValue<A>;
  using Second = async_internal::FiberValue<B>;
  Fiber<First> first;
  Fiber<Second> second;
  auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
    first = scope.Spawn(std::move(a));
    second = scope.Spawn(std::move(b));
    first.Ignore();  // Looked at after the scope.
    second.Ignore();
    co_return;
  });
  const absl::Status ended = co_await run;
  if (!ended.ok()) co_return ended;
  absl::StatusOr<First> one = std::move(first).Take();
  if (!one.ok()) co_return one.status();
  absl::StatusOr<Second> two = std::move(second).Take();
  if (!two.ok()) co_return two.status();
  co_return std::pair<First, Second>(*std::move(one), *std::move(two));
}

// Of none: INVALID_ARGUMENT, as below.
template <typename F>
auto AnyOf(std::vector<F> bodies) {
  return async_internal::RunContest(std::move(bodies), /*errors_count=*/true);
}

// When all have failed: their errors.
template <typename F>
auto FirstOf(std::vector<F> bodies) {
  return async_internal::RunContest(std::move(bodies), /*errors_count=*/false);
}

// The results of `f(item)`, a coroutine, in the order of `items`; for void, nothing. At most
// `limit` of them run at a time, which is at least 1, each in one of so many fibers; the first
// failure cancels the others, and no further one begins.
template <typename Item, typename F>
auto MaxInFlight(int limit, std::vector<Item> items, F f)
    -> CoTask<FutureResult<AllValues<typename std::invoke_result_t<F&, Item&>::Value>>> {
  using V = typename std::invoke_result_t<F&, Item&>::Value;
  std::vector<std::optional<FutureResult<V>>> results(items.size());
  std::atomic<std::size_t> next{0};
  const auto serve = [&]() -> CoTask<absl::Status> {
    // Relaxed: the fibers share nothing else, and their ends publish the results.
    for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < items.size();
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      const absl::Status cancelled = CheckCancelled();
      if (!cancelled.ok()) co_return cancelled;
      auto call = f(items[i]);
      FutureResult<V> result = co_await call;
      if (!StatusOf(result).ok()) co_return StatusOf(result);
      results[i].emplace(std::move(result));
    }
    co_return absl::OkStatus();
  };
  const std::size_t fibers = std::min(items.size(), static_cast<std::size_t>(std::max(limit, 1)));
  auto run = Scope::Run([&](Scope& scope) -> CoTask<void> {
    for (std::size_t i = 0; i < fibers; ++i) scope.Spawn(serve).Ignore();
    co_return;
  });
  const absl::Status ended = co_await run;
  if (!ended.ok()) co_return ended;
  co_return async_internal::GatherAll<V>(results);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FIBER_GROUPS_H_
