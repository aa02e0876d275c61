// Futures that wait for several: WhenAll(), Barrier(), MapAll(), Both(), Flatten(). Those that
// wait for one of several are in future_any.h.
//
// All of them: a request to cancel the combined future goes on to its parts; results that
// cannot be copied are taken from the parts (see Future::Take()). Callbacks run where those
// of the parts do. Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_COMBINE_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_COMBINE_H_

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/future.h"

namespace jackdaw {
namespace async_internal {

template <typename T, typename U>
void PassCancelToAll(const Promise<U>& promise, const std::vector<Future<T>>& futures) {
  promise.OnCancel([futures] {
    for (const Future<T>& future : futures) future.RequestCancel();
  });
}

// Whose workers a wait for all of them may keep busy: the first runner that one of them knows.
template <typename Range>
const Runner* CompleterOf(const Range& futures) {
  for (const auto& future : futures) {
    if (future.cell()->completer() != nullptr) return future.cell()->completer();
  }
  return nullptr;
}

}  // namespace async_internal

// What WhenAll() gives: the values in the order of the futures, nothing for void.
template <typename T>
using AllValues = std::conditional_t<std::is_void_v<T>, void,
                                     std::vector<std::conditional_t<std::is_void_v<T>, int, T>>>;

// Resolves when all have: to the values, or to the error of the first future, in their
// order, that failed. It never leaves one behind that still runs. Of none: at once.
template <typename T>
Future<AllValues<T>> WhenAll(std::vector<Future<T>> futures) {
  struct Gathering {
    explicit Gathering(const std::vector<Future<T>>& parts)
        : results(parts.size()), left(parts.size()), promise(async_internal::CompleterOf(parts)) {}
    std::vector<std::optional<FutureResult<T>>> results;
    std::atomic<std::size_t> left;
    Promise<AllValues<T>> promise;

    void Finish() {
      for (const auto& result : results) {
        if (!StatusOf(*result).ok()) return promise.Fulfil(StatusOf(*result));
      }
      if constexpr (std::is_void_v<T>) {
        promise.Fulfil(absl::OkStatus());
      } else {
        std::vector<T> values;
        values.reserve(results.size());
        for (auto& result : results) values.push_back(**std::move(result));
        promise.Fulfil(std::move(values));
      }
    }
  };
  auto all = std::make_shared<Gathering>(futures);
  Future<AllValues<T>> combined = all->promise.future();
  if (futures.empty()) {
    all->Finish();
    return combined;
  }
  async_internal::PassCancelToAll(all->promise, futures);
  for (std::size_t i = 0; i < futures.size(); ++i) {
    std::move(futures[i]).AddCallback([all, i](Future<T> ready) {
      all->results[i].emplace(std::move(ready).Take());
      // The last to come sees what all the others stored: acquire-release on one counter.
      if (all->left.fetch_sub(1, std::memory_order_acq_rel) == 1) all->Finish();
    });
  }
  return combined;
}

// Resolves when all futures of `range`, any container of them, have: to OK, or to the error of
// the first, in their order, that failed. Copies and takes no values: those stay with the
// futures. Of none: at once.
template <typename Range>
Future<void> Barrier(const Range& range) {
  using Part = std::decay_t<decltype(*std::begin(range))>;
  struct Gate {
    explicit Gate(const std::vector<Part>& parts)
        : statuses(parts.size()), left(parts.size()), promise(async_internal::CompleterOf(parts)) {}
    std::vector<absl::Status> statuses;
    std::atomic<std::size_t> left;
    Promise<void> promise;

    void Open() {
      for (absl::Status& status : statuses) {
        if (!status.ok()) return promise.Fulfil(std::move(status));
      }
      promise.Fulfil();
    }
  };
  const std::vector<Part> futures(std::begin(range), std::end(range));
  auto gate = std::make_shared<Gate>(futures);
  Future<void> opened = gate->promise.future();
  if (futures.empty()) {
    gate->Open();
    return opened;
  }
  async_internal::PassCancelToAll(gate->promise, futures);
  for (std::size_t i = 0; i < futures.size(); ++i) {
    futures[i].OnReady([gate, i](const typename Part::Result& result) {
      gate->statuses[i] = StatusOf(result);
      // As in WhenAll(): the last sees what all the others stored.
      if (gate->left.fetch_sub(1, std::memory_order_acq_rel) == 1) gate->Open();
    });
  }
  return opened;
}

// WhenAll() of the futures that `f` makes of the elements of `range`. A call that throws
// counts as a future that failed.
template <typename Range, typename F>
auto MapAll(Range&& range, F f) {
  using Made = std::invoke_result_t<F&, decltype(*std::begin(range))>;
  std::vector<Made> futures;
  for (auto&& element : range) {
    absl::StatusOr<Made> made = CallForResult(f, std::forward<decltype(element)>(element));
    futures.push_back(made.ok() ? *std::move(made) : Made::Ready(made.status()));
  }
  return WhenAll(std::move(futures));
}

// The result of the future that a future gives.
template <typename T>
Future<T> Flatten(Future<Future<T>> outer) {
  return std::move(outer).Then([](Future<T> inner) { return inner; });
}

// Both values as a pair, when both are there, or the error of the first one that failed in
// their order.
template <typename A, typename B>
Future<std::pair<A, B>> Both(Future<A> first, Future<B> second) {
  return std::move(first).Then([second = std::move(second)](A a) mutable {
    return std::move(second).Map(
        [a = std::move(a)](B b) mutable { return std::pair<A, B>(std::move(a), std::move(b)); });
  });
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_COMBINE_H_
