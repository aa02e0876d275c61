// What Future says about its result once it is there: AddCallback(), and upon it Map(), Then()
// and their like. Included by future.h, which documents them.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_

#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/async/future.h"

namespace jackdaw {
namespace async_internal {

// What a step is called with: the value, and errors pass it by; or the result, whole.
enum class Part { kValue, kResult };

// Calls `f` with that part of a result. Result is `const R&` or `R`.
template <Part kPart, typename F, typename Result>
decltype(auto) CallWith(F&& f, Result&& result) {
  if constexpr (kPart == Part::kResult) {
    return std::forward<F>(f)(std::forward<Result>(result));
  } else if constexpr (std::is_same_v<std::decay_t<Result>, absl::Status>) {
    return std::forward<F>(f)();
  } else {
    return std::forward<F>(f)(*std::forward<Result>(result));
  }
}

// How `f` sees the result of the future that it is called with: taken out of it, or shared.
template <bool kTake, typename T>
using Seen = std::conditional_t<kTake, FutureResult<T>, const FutureResult<T>&>;

template <bool kTake, Part kPart, typename T, typename F>
using ReturnedBy =
    std::decay_t<decltype(CallWith<kPart>(std::declval<F>(), std::declval<Seen<kTake, T>>()))>;

// What `f` makes of the result of `future`, which is ready. Both arguments have died when
// this returns, and with them what they own.
template <bool kTake, Part kPart, typename T, typename F>
auto CallOnce(F f, Future<T> future) -> FutureResult<ResultValue<ReturnedBy<kTake, kPart, T, F>>> {
  auto call = [&f](auto&& result) -> FutureResult<ResultValue<ReturnedBy<kTake, kPart, T, F>>> {
    if constexpr (kPart == Part::kValue) {
      if (!StatusOf(result).ok()) return StatusOf(result);
    }
    return CallForResult([&]() -> decltype(auto) {
      return CallWith<kPart>(std::move(f), std::forward<decltype(result)>(result));
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
  std::move(source).AddCallback([promise = std::move(promise)](Future<U> ready) mutable {
    promise.DropCancelCallbacks();  // They hold a handle, and Take() moves only the last one.
    std::move(promise).Fulfil(std::move(ready).Take());
  });
}

template <bool kTake, Part kPart, typename T, typename F>
auto MapFuture(Future<T> source, F&& f) {
  using Function = std::decay_t<F>;
  using U = ResultValue<ReturnedBy<kTake, kPart, T, Function>>;
  Promise<U> promise(source.cell()->completer());
  Future<U> mapped = promise.future();
  PassCancelOn(promise, source);
  std::move(source).AddCallback(
      [promise = std::move(promise), f = Function(std::forward<F>(f))](Future<T> ready) mutable {
        promise.DropCancelCallbacks();
        std::move(promise).Fulfil(CallOnce<kTake, kPart>(std::move(f), std::move(ready)));
      });
  return mapped;
}

template <bool kTake, Part kPart, typename T, typename F>
auto ThenFuture(Future<T> source, F&& f) {
  using Function = std::decay_t<F>;
  using Inner = ReturnedBy<kTake, kPart, T, Function>;
  static_assert(IsFuture<Inner>::value, "Then() takes a function that returns a future");
  using U = typename IsFuture<Inner>::value_type;
  Promise<U> promise(source.cell()->completer());
  Future<U> bound = promise.future();
  PassCancelOn(promise, source);
  std::move(source).AddCallback(
      [promise = std::move(promise), f = Function(std::forward<F>(f))](Future<T> ready) mutable {
        promise.DropCancelCallbacks();
        absl::StatusOr<Inner> inner = CallOnce<kTake, kPart>(std::move(f), std::move(ready));
        if (!inner.ok()) return std::move(promise).Fulfil(inner.status());
        // An empty handle is nobody's promise.
        if (!inner->valid()) return std::move(promise).Fulfil(BrokenPromiseError());
        Forward(std::move(promise), *std::move(inner));
      });
  return bound;
}

}  // namespace async_internal

template <typename T>
template <typename F>
void Future<T>::AddCallback(F&& callback) && {
  class Callback final : public Waiter {
   public:
    Callback(F&& f, Future future)
        : Waiter(&Callback::Call, Turn::kInTurn),
          callback_(std::forward<F>(f)),
          future_(std::move(future)) {}

   private:
    static void Call(Waiter* waiter) noexcept {
      auto* self = static_cast<Callback*>(waiter);
      std::decay_t<F> callback = std::move(self->callback_);
      Future future = std::move(self->future_);
      delete self;
      std::move(callback)(std::move(future));
    }
    std::decay_t<F> callback_;
    Future future_;
  };
  FutureCell<T>& cell = *cell_;
  auto* waiter = new Callback(std::forward<F>(callback), std::move(*this));
  if (!cell.AddWaiter(waiter)) WakeReady(waiter);
}

template <typename T>
template <typename F>
auto Future<T>::Map(F&& f) const& {
  return async_internal::MapFuture<false, async_internal::Part::kValue>(*this, std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Map(F&& f) && {
  return async_internal::MapFuture<true, async_internal::Part::kValue>(std::move(*this),
                                                                       std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Then(F&& f) const& {
  return async_internal::ThenFuture<false, async_internal::Part::kValue>(*this, std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::Then(F&& f) && {
  return async_internal::ThenFuture<true, async_internal::Part::kValue>(std::move(*this),
                                                                        std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::MapResult(F&& f) const& {
  return async_internal::MapFuture<false, async_internal::Part::kResult>(*this, std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::MapResult(F&& f) && {
  return async_internal::MapFuture<true, async_internal::Part::kResult>(std::move(*this),
                                                                        std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::ThenResult(F&& f) const& {
  return async_internal::ThenFuture<false, async_internal::Part::kResult>(*this,
                                                                          std::forward<F>(f));
}

template <typename T>
template <typename F>
auto Future<T>::ThenResult(F&& f) && {
  return async_internal::ThenFuture<true, async_internal::Part::kResult>(std::move(*this),
                                                                         std::forward<F>(f));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_THEN_H_
