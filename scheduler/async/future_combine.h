// Futures made of several: Both(), WhenAll(), WhenAny(), Race().
//
// All of them: a request to cancel the combined future goes on to its parts; results that
// cannot be copied are taken from the parts (see Future::Take()). Callbacks run where those
// of the parts do. Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_COMBINE_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_COMBINE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/async/future.h"

namespace jackdaw {
namespace async_internal {

template <typename T, typename U>
void PassCancelToAll(const Promise<U>& promise, const std::vector<Future<T>>& futures) {
  promise.OnCancel([futures] {
    for (const Future<T>& future : futures) future.RequestCancel();
  });
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
    explicit Gathering(std::size_t count) : results(count), left(count) {}
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
  auto all = std::make_shared<Gathering>(futures.size());
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

// What WhenAny() gives: which future was first, and its result.
template <typename T>
struct First {
  std::size_t index;
  FutureResult<T> result;
};

// Resolves as soon as one has, to its result, be it a value or an error; the others are
// left alone. Of none: INVALID_ARGUMENT. A future that outlives many such calls keeps a
// small record of each until it resolves.
template <typename T>
Future<First<T>> WhenAny(std::vector<Future<T>> futures) {
  auto promise = std::make_shared<Promise<First<T>>>();
  Future<First<T>> combined = promise->future();
  if (futures.empty()) promise->Fulfil(absl::InvalidArgumentError("WhenAny() of no futures"));
  async_internal::PassCancelToAll(*promise, futures);
  for (std::size_t i = 0; i < futures.size(); ++i) {
    std::move(futures[i]).AddCallback([promise, i](Future<T> ready) {
      // Only the winner takes its result: a loser's is left for its other handles.
      if (promise->is_fulfilled()) return;
      if constexpr (kCopyable<T>) {
        promise->TryFulfil(First<T>{i, *ready.Peek()});
      } else {
        promise->TryFulfil(First<T>{i, std::move(ready).Take()});
      }
    });
  }
  return combined;
}

// As WhenAny(), but gives the result alone and asks the losers to cancel.
template <typename T>
Future<T> Race(std::vector<Future<T>> futures) {
  const std::vector<Future<T>> all = futures;
  return WhenAny(std::move(futures)).Map([all](First<T> first) -> FutureResult<T> {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != first.index) all[i].RequestCancel();
    }
    return std::move(first.result);
  });
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
