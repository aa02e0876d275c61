// Futures that wait for one of several: WhenAny(), Race(), FirstSuccess(), Choose().
//
// All of them: a request to cancel the combined future goes on to its parts; results that
// cannot be copied are taken from the parts (see Future::Take()). Callbacks run where those
// of the parts do. A future that outlives many such calls keeps a small record of each until
// it resolves. Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_ANY_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_ANY_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/async/future.h"
#include "scheduler/async/future_combine.h"

namespace jackdaw {

// What WhenAny() gives: which future was first, and its result.
template <typename T>
struct First {
  std::size_t index;
  FutureResult<T> result;
};

// Resolves as soon as one has, to its result, be it a value or an error; the others are
// left alone. Of none: INVALID_ARGUMENT.
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

// Resolves as soon as one has succeeded, to its value; when all have failed, to the error of
// the first in their order. The others are left alone. Of none: INVALID_ARGUMENT.
template <typename T>
Future<T> FirstSuccess(std::vector<Future<T>> futures) {
  struct Attempts {
    explicit Attempts(std::size_t count) : errors(count), left(count) {}
    std::vector<absl::Status> errors;
    std::atomic<std::size_t> left;
    Promise<T> promise;
  };
  auto all = std::make_shared<Attempts>(futures.size());
  Future<T> first = all->promise.future();
  if (futures.empty()) {
    all->promise.Fulfil(absl::InvalidArgumentError("FirstSuccess() of no futures"));
  }
  async_internal::PassCancelToAll(all->promise, futures);
  for (std::size_t i = 0; i < futures.size(); ++i) {
    std::move(futures[i]).AddCallback([all, i](Future<T> ready) {
      if (ready.is_success()) {
        if (!all->promise.is_fulfilled()) all->promise.TryFulfil(std::move(ready).Take());
        return;
      }
      all->errors[i] = StatusOf(*ready.Peek());
      // The last to fail sees the errors of the others. It is not reached after a success.
      if (all->left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        all->promise.Fulfil(std::move(all->errors.front()));
      }
    });
  }
  return first;
}

// What Choose() gives for a value of type T: itself; nothing for void.
template <typename T>
using Chosen = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// FirstSuccess() of two of different types: index 0 holds the value of `a`, index 1 that of `b`.
template <typename A, typename B>
Future<std::variant<Chosen<A>, Chosen<B>>> Choose(Future<A> a, Future<B> b) {
  using Either = std::variant<Chosen<A>, Chosen<B>>;
  std::vector<Future<Either>> both;
  both.push_back(std::move(a).Map(
      [](auto... value) { return Either(std::in_place_index<0>, std::move(value)...); }));
  both.push_back(std::move(b).Map(
      [](auto... value) { return Either(std::in_place_index<1>, std::move(value)...); }));
  return FirstSuccess(std::move(both));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_ANY_H_
