// Future: a result that comes later. A handle: copies share one result, and any number of
// threads, callbacks and coroutines may wait for it. The other side is Promise.
//
//   Future<int> answer = Spawn(pool, [] { return 42; });
//   Future<std::string> text = answer.Map([](int value) { return absl::StrCat(value); });
//
// `co_await` is in co_task.h; WhenAll() and the like are in future_combine.h, ForEach() in
// for_each.h, On() for a step on another runner in on.h.
//
// Thread safety
//   As std::shared_ptr: distinct handles may be used from distinct threads; const methods
//   of one handle, too. Take() is the exception, see there.
//
// Where code runs
//   A callback (OnReady, Map, Then) runs on the thread that fulfils the promise; if the
//   future is ready when it is added, on the adding thread, before the call returns. Two
//   rules keep the stack flat however long a chain is: what is completed inside a callback
//   calls its own callbacks after that one returned; and when callbacks on ready futures
//   nest kMaxInlineCallbackDepth deep, so does the next. OnReady(runner, ...) runs it on a
//   runner instead.
//
// Errors: a failed future is data, see FutureResult. Requires, for all methods but valid():
// valid().

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_H_

#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/future_cell.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/promise.h"
#include "scheduler/async/waiter.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

template <typename T>
class Future;

namespace async_internal {
template <typename R>
struct IsFuture : std::false_type {};
template <typename T>
struct IsFuture<Future<T>> : std::true_type {
  using value_type = T;
};
}  // namespace async_internal

template <typename T>
class [[nodiscard]] Future {
  static_assert(!std::is_reference_v<T>, "a future holds a value; use a pointer");
  static_assert(std::is_same_v<ResultValue<T>, T>, "a future holds a status already");

 public:
  using Value = T;
  using Result = FutureResult<T>;

  // Refers to nothing until it is assigned to.
  Future() = default;
  explicit Future(CellRef<T> cell) : cell_(std::move(cell)) {}
  // A future that is ready from the start.
  [[nodiscard]] static Future Ready(Result result) {
    CellRef<T> cell(new FutureCell<T>);
    cell->Resolve(std::move(result));
    return Future(std::move(cell));
  }

  [[nodiscard]] bool valid() const { return static_cast<bool>(cell_); }
  [[nodiscard]] bool is_ready() const { return cell_->is_ready(); }

  // Whether there is a result and it is a value; whether there is one and it is an error.
  [[nodiscard]] bool is_success() const { return is_ready() && StatusOf(cell_->result()).ok(); }
  [[nodiscard]] bool is_failed() const { return is_ready() && !StatusOf(cell_->result()).ok(); }

  // The result, or null while there is none. Valid as long as any handle lives.
  [[nodiscard]] const Result* Peek() const { return is_ready() ? &cell_->result() : nullptr; }

  // The same, but FAILED_PRECONDITION while there is none. Does not wait.
  [[nodiscard]] const Result& PeekOrError() const {
    static const Result not_ready(NotReadyError());
    return is_ready() ? cell_->result() : not_ready;
  }

  // Blocks the calling thread until there is a result and returns it; valid as long as any
  // handle lives. A worker must not wait for its own runner: where the future knows its
  // runner (it came from Spawn(), or from one that did) and that is the calling worker's,
  // this returns FAILED_PRECONDITION instead. On workers prefer co_await, Then() or
  // ForkJoin(): a blocked worker works for nobody. Never helps with other work.
  // A temporary handle gives the result itself, by Take().
  const Result& Wait() const& {
    if (is_ready()) return cell_->result();
    const Runner* here = Runner::Current();
    if (here != nullptr && here == cell_->completer()) return RefusedWait();
    cell_->BlockUntilReady();
    return cell_->result();
  }

  Result Wait() && {
    (void)std::as_const(*this).Wait();
    if (!is_ready()) return WouldDeadlockError();
    return std::move(*this).Take();
  }

  // Takes the result out. Requires: ready. The last handle, and a T that cannot be copied,
  // is moved; else it is copied. A result that cannot be copied has one taker, and no other
  // handle reads it at that time or later.
  [[nodiscard]] Result Take() && {
    const CellRef<T> cell = std::move(cell_);
    if constexpr (kCopyable<T>) {
      if (!cell->is_sole_holder()) return cell->result();
    }
    return std::move(cell->result());
  }

  // Calls `callback(const Result&)` once, see "Where code runs". It must not throw.
  template <typename F>
  void OnReady(F&& callback) const {
    AddCallback([f = std::forward<F>(callback)](Future future) mutable {
      std::move(f)(std::as_const(future.cell_->result()));
    });
  }

  // The same, on a worker of `runner`. When the runner has been shut down meanwhile, the
  // callback is destroyed uncalled.
  template <typename F>
  void OnReady(Runner& runner, F&& callback) const {
    AddCallback([&runner, f = std::forward<F>(callback)](Future future) mutable {
      runner
          .Run([future = std::move(future), f = std::move(f)]() mutable {
            std::move(f)(std::as_const(future.cell_->result()));
          })
          .IgnoreError();
    });
  }

  // The future of `f(value)`; f() for void. An error here passes by `f`; an exception in `f`
  // becomes UNKNOWN, and if `f` returns a Status or StatusOr, that is the result. With an
  // rvalue future `f` gets the value by Take(), which is how a move-only one is mapped.
  template <typename F>
  auto Map(F&& f) const&;
  template <typename F>
  auto Map(F&& f) &&;

  // As Map(), for an `f` that returns a future: the future of that one's result.
  template <typename F>
  auto Then(F&& f) const&;
  template <typename F>
  auto Then(F&& f) &&;

  // As Map() and Then(), for an `f` that wants errors, too: it is called with the whole
  // `const Result&`; with an rvalue future, with the Result.
  template <typename F>
  auto MapResult(F&& f) const&;
  template <typename F>
  auto MapResult(F&& f) &&;
  template <typename F>
  auto ThenResult(F&& f) const&;
  template <typename F>
  auto ThenResult(F&& f) &&;

  // Says that the result is no longer wanted. The producer may notice (Promise::
  // cancel_requested(), OnCancel()) and still decides the result. A derived future passes
  // the request on to those it was made from, also where others hold them. No effect once
  // there is a result. Runs the producer's callbacks.
  void RequestCancel() const { cell_->Cancel(); }

  // For coroutines and combinators.
  [[nodiscard]] const CellRef<T>& cell() const { return cell_; }

  // Calls `callback(Future)` as OnReady() does.
  template <typename F>
  void AddCallback(F&& callback) const& {
    Future(*this).AddCallback(std::forward<F>(callback));
  }
  template <typename F>
  void AddCallback(F&& callback) &&;

 private:
  static const Result& RefusedWait() {
    static const Result refused(WouldDeadlockError());
    return refused;
  }

  CellRef<T> cell_;
};

}  // namespace jackdaw

#include "scheduler/async/future_then.h"  // IWYU pragma: export

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_H_
