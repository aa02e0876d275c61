// Map() and Then() of Future. Included by future.h, which documents them.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_

#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/async/future.h"

namespace jackdaw {
namespace async_internal {

// Calls `f` with the value of a result that is not an error. Result is `const R&` or `R`.
template <typename F, typename Result>
decltype(auto) CallWithValue(F&& f, Result&& result) {
  if constexpr (std::is_same_v<std::decay_t<Result>, absl::Status>) {
    return std::forward<F>(f)();
  } else {
    return std::forward<F>(f)(*std::forward<Result>(result));
  }
}

// How `f` sees the result of the future that it is called with: taken out of it, or shared.
template <bool kTake, typename T>
using Seen = std::conditional_t<kTake, FutureResult<T>, const FutureResult<T>&>;

template <bool kTake, typename T, typename F>
using ReturnedBy =
    std::decay_t<decltype(CallWithValue(std::declval<F>(), std::declval<Seen<kTake, T>>()))>;

// What `f` makes of the result of `future`, which is ready. An error passes by `f`. Both
// arguments have died when this returns, and with them what they own.
template <bool kTake, typename T, typename F>
auto CallOnce(F f, Future<T> future) -> FutureResult<ResultValue<ReturnedBy<kTake, T, F>>> {
  auto call = [&f](auto&& result) -> FutureResult<ResultValue<ReturnedBy<kTake, T, F>>> {
    if (!StatusOf(result).ok()) return StatusOf(result);
    return CallForResult([&]() -> decltype(auto) {
      return CallWithValue(std::move(f), std::forward<decltype(result)>(result));
    });
  };
  if constexpr (kTake) {
    return call(std::move(future).Take());
  } else {
    return call(*future.Peek());
  }
}

// Until the promise drops its cancel callbacks, or is fulfilled, a request to cancel what it
// promises goes on to `source`.
template <typename U, typename T>
void PassCancelOn(const Promise<U>& promise, const Future<T>& source) {
  if (source.is_ready()) return;
  promise.OnCancel([source] { source.RequestCancel(); });
}

// Gives the result of `source` to `promise`.
template <typename U>
void Forward(Promise<U> promise, Future<U> source) {
  PassCancelOn(promise, source);
  std::move(source).AddCallback([promise = std::move(promise)](Future<U> ready) {
    promise.DropCancelCallbacks();  // They hold a handle, and Take() moves only the last one.
    promise.Fulfil(std::move(ready).Take());
  });
}

template <bool kTake, typename T, typename F>
auto MapFuture(Future<T> source, F&& f) {
  using Function = std::decay_t<F>;
  using U = ResultValue<ReturnedBy<kTake, T, Function>>;
  Promise<U> promise(source.cell()->completer());
  Future<U> mapped = promise.future();
  PassCancelOn(promise, source);
  std::move(source).AddCallback(
      [promise = std::move(promise), f = Function(std::forward<F>(f))](Future<T> ready) mutable {
        promise.DropCancelCallbacks();
        promise.Fulfil(CallOnce<kTake>(std::move(f), std::move(ready)));
      });
  return mapped;
}

template <bool kTake, typename T, typename F>
auto ThenFuture(Future<T> source, F&& f) {
  using Function = std::decay_t<F>;
  using Inner = ReturnedBy<kTake, T, Function>;
  static_assert(IsFuture<Inner>::value, "Then() takes a function that returns a future");
  using U = typename IsFuture<Inner>::value_type;
  Promise<U> promise(source.cell()->completer());
  Future<U> bound = promise.future();
  PassCancelOn(promise, source);
  std::move(source).AddCallback(
      [promise = std::move(promise), f = Function(std::forward<F>(f))](Future<T> ready) mutable {
        promise.DropCancelCallbacks();
        absl::StatusOr<Inner> inner = CallOnce<kTake>(std::move(f), std::move(ready));
        if (!inner.ok()) return promise.Fulfil(inner.status());
        // An empty handle is nobody's promise.
        if (!inner->valid()) return promise.Fulfil(BrokenPromiseError());
        Forward(std::move(promise), *std::move(inner));
      });
  return bound;
}

}  // namespace async_internal

template <typename T>
template <typename F>
auto Future<T>::Map(F&& f) const& {
  return async_internal::MapFuture<false>(*this, std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Map(F&& f) && {
  return async_internal::MapFuture<true>(std::move(*this), std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Then(F&& f) const& {
  return async_internal::ThenFuture<false>(*this, std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Then(F&& f) && {
  return async_internal::ThenFuture<true>(std::move(*this), std::forward<F>(f));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_
