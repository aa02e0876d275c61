// Promise: the side of a future that produces its result.
//
// Thread safety
//   A const method may be called from any thread, concurrently with every other. Moving
//   and destroying need outside synchronisation, as with any object; that its future is ready
//   is enough, also while the call that made it so has not returned.
//
// Invariants
//   (1) Every promise resolves its future. One that dies without a result, or is assigned
//       over, resolves it to ABORTED.
//   (2) The first result counts. Offering a second one is refused by TryFulfil() and is a
//       bug, which aborts, in Fulfil().
//   (3) Waiters are woken by the thread that fulfils, before the call returns, or, when it
//       is itself inside a callback of a future, after that callback has returned.

#ifndef JACKDAW_SCHEDULER_ASYNC_PROMISE_H_
#define JACKDAW_SCHEDULER_ASYNC_PROMISE_H_

#include <cstdlib>
#include <type_traits>
#include <utility>

#include "scheduler/async/future_cell.h"
#include "scheduler/async/future_result.h"

namespace jackdaw {

template <typename T>
class Future;

template <typename T>
class Promise {
 public:
  using Result = FutureResult<T>;

  // `completer` names the runner whose workers will fulfil this promise, where one knows it:
  // Future::Wait() then refuses to block one of them.
  explicit Promise(const Runner* completer = nullptr) : cell_(new FutureCell<T>(completer)) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    Break();
    cell_ = std::move(other.cell_);
    return *this;
  }
  ~Promise() { Break(); }

  // A handle of the future; any number of times. Requires: not moved from, as all below.
  [[nodiscard]] Future<T> future() const { return Future<T>(cell_); }

  // Resolves the future to a value or an error. Aborts the program if it already is. A promise
  // that is not needed any more gives its reference away, which spares taking one.
  void Fulfil(Result result) const& {
    if (!TryFulfil(std::move(result))) std::abort();
  }
  void Fulfil(Result result) && {
    const CellRef<T> cell = std::move(cell_);
    if (!cell->TryClaim()) std::abort();
    cell->Resolve(std::move(result));
  }
  void Fulfil() const requires std::is_void_v<T> { Fulfil(absl::OkStatus()); }

  // The same, but false if it already is resolved, or is being resolved by another thread.
  bool TryFulfil(Result result) const {
    if (!cell_->TryClaim()) return false;
    // Whoever sees the result may destroy this promise before the waiters are all woken.
    const CellRef<T> cell = cell_;
    cell->Resolve(std::move(result));
    return true;
  }

  // Destroys the callbacks that wait for such a request, uncalled. By the thread that adds them.
  void DropCancelCallbacks() const { cell_->DropCancelWaiters(); }

  // Whether a result was given. By another thread: it may not be visible yet.
  [[nodiscard]] bool is_fulfilled() const { return cell_->is_claimed(); }

  // Whether anybody holds a handle of the future, or waits for it. Once false it stays false,
  // unless future() is called again: nobody will see the result.
  [[nodiscard]] bool is_wanted() const { return !cell_->is_sole_holder(); }

  // Whether somebody asked for this to be given up (Future::RequestCancel()). A hint: the
  // promise is still to be fulfilled, with CANCELLED where the work was given up.
  [[nodiscard]] bool cancel_requested() const { return cell_->cancel_requested(); }

  // Calls `callback` once when cancelling is requested, on the requesting thread or, where it
  // has been requested already, here. Never after the result is there; the callback is then
  // destroyed. It must not throw. It may own a handle of this very future.
  template <typename F>
  void OnCancel(F&& callback) const {
    class OnRequest final : public CancelWaiter {
     public:
      explicit OnRequest(F&& f) : CancelWaiter(&OnRequest::Call), callback_(std::forward<F>(f)) {}

     private:
      static void Call(Waiter* waiter) noexcept {
        auto* self = static_cast<OnRequest*>(waiter);
        if (!self->too_late) std::move(self->callback_)();
        delete self;
      }
      std::decay_t<F> callback_;
    };
    cell_->OnCancel(new OnRequest(std::forward<F>(callback)));
  }

 private:
  void Break() {
    if (cell_ && !cell_->is_claimed()) TryFulfil(BrokenPromiseError());
  }

  CellRef<T> cell_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_PROMISE_H_
