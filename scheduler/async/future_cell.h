// FutureCell: where one result is kept, shared by a promise, its futures and their waiters.
// Users see Future and Promise; this is what both point at.
//
// Thread safety: as FutureCore says. The result is written between TryClaim() and
// Publish(), and only read from then on; but see Future::Take().

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_CELL_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_CELL_H_

#include <atomic>
#include <memory>
#include <utility>

#include "scheduler/async/future_core.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/waiter.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

// Waits for RequestCancel(). It is woken once in any case; `too_late` says that it only has
// to free itself.
class CancelWaiter : public Waiter {
 public:
  bool too_late = false;

 protected:
  explicit CancelWaiter(Wake wake) : Waiter(wake, Turn::kInTurn) {}
  ~CancelWaiter() = default;
};

class FutureCellBase : public BasicFutureCore<std::atomic> {
 public:
  // Whose workers do the work behind this future; null if that is not known.
  [[nodiscard]] const Runner* completer() const { return completer_; }

  // Blocks the calling thread until the result is there.
  void BlockUntilReady();

  // Asks the producer to stop, and wakes those who wait for that.
  void Cancel() { WakeAll(RequestCancel()); }
  // Adds `waiter`, or wakes it at once.
  void OnCancel(CancelWaiter* waiter);
  // Frees those who wait for a request.
  void DropCancelWaiters() { WakeTooLate(TakeCancelWaiters()); }

 protected:
  explicit FutureCellBase(const Runner* completer) : completer_(completer) {}
  ~FutureCellBase() = default;

  // Publishes the result, frees who waits for a cancel and wakes who waits for the result.
  void PublishAndWake();

 private:
  static void WakeTooLate(Waiter* first);
  const Runner* const completer_;
};

template <typename T>
class FutureCell : public FutureCellBase {
 public:
  explicit FutureCell(const Runner* completer = nullptr) : FutureCellBase(completer) {}
  virtual ~FutureCell() {
    if (is_ready()) std::destroy_at(&result_);
  }

  // Requires: ready.
  [[nodiscard]] FutureResult<T>& result() { return result_; }

  // Requires: the caller won TryClaim(), or nobody else can fulfil this cell; and holds a
  // reference.
  void Resolve(FutureResult<T> result) {
    std::construct_at(&result_, std::move(result));
    PublishAndWake();
  }

 private:
  union {
    FutureResult<T> result_;  // Alive from Resolve() on.
  };
};

// A counted handle of a cell. Thread safety: as std::shared_ptr.
template <typename T>
class CellRef {
 public:
  CellRef() = default;
  // Takes over the reference that a new cell starts with.
  explicit CellRef(FutureCell<T>* adopted) : cell_(adopted) {}
  CellRef(const CellRef& other) : cell_(other.cell_) {
    if (cell_ != nullptr) cell_->AddReference();
  }
  CellRef(CellRef&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  CellRef& operator=(CellRef other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~CellRef() {
    if (cell_ != nullptr && cell_->RemoveReference()) delete cell_;
  }

  FutureCell<T>* operator->() const { return cell_; }
  FutureCell<T>& operator*() const { return *cell_; }
  explicit operator bool() const { return cell_ != nullptr; }

 private:
  FutureCell<T>* cell_ = nullptr;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_CELL_H_
