// FutureCore: the lock-free part of a future. One word says whether the result is there
// and, until then, who waits for it; a second one does the same for the wish to cancel; a
// count says who still holds the cell.
//
// Thread safety
//   TryClaim(), AddWaiter(), is_ready(), RequestCancel(), ... any thread, at any time
//   between a reference taken and given back.
//   Publish()   once: whoever claimed the result, or is the only one who could.
//
// Invariants
//   (1) `done_` only goes forward: no claim, claimed, ready. Waiters join until it is ready.
//   (2) Each waiter that AddWaiter() accepted is in the list that Publish() returns, once.
//   (3) Each waiter that AddCancelWaiter() accepted is in the list of exactly one of
//       RequestCancel(), CloseCancel() and TakeCancelWaiters(). None is left behind once
//       the result is there, so it may keep alive what in turn keeps this cell alive.
//
// Memory order
//   Result       Publish() stores ready with release; is_ready() and a refused AddWaiter()
//                load with acquire: whoever sees ready sees the result.
//   Waiter       AddWaiter() links with release, Publish() takes the list with acquire: the
//                completer sees the waiter's contents. A claim in between is a read-modify-
//                write and so does not break the chain, relaxed as it is. (The link is also
//                an acquire: as in C++14, the model checker knows no order of a failed
//                exchange that is stronger than that of a successful one.)
//   Late cancel  Publish() changes `done_`, then CloseCancel() looks at `cancel_`;
//                AddCancelWaiter() changes `cancel_`, then looks at `done_`. All four are
//                seq_cst. Weaker, both could miss and the callback would stay for ever.
//   References   Give-backs release this thread's use of the cell to the last one, which
//                acquires them and destroys it.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_CORE_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_CORE_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "scheduler/async/waiter.h"

namespace jackdaw {

// `Atomic` is std::atomic, or the model checker's stand-in for it.
template <template <typename> class Atomic>
class BasicFutureCore {
 public:
  BasicFutureCore() = default;
  BasicFutureCore(const BasicFutureCore&) = delete;
  BasicFutureCore& operator=(const BasicFutureCore&) = delete;

  // Whether the result can be read.
  [[nodiscard]] bool is_ready() const {
    return (done_.load(std::memory_order_acquire) & kReady) != 0;
  }

  // Whether the result is there or about to be.
  [[nodiscard]] bool is_claimed() const {
    return (done_.load(std::memory_order_relaxed) & kClaimed) != 0;
  }

  // True for one caller only: it writes the result and calls Publish(), soon.
  [[nodiscard]] bool TryClaim() {
    return (done_.fetch_or(kClaimed, std::memory_order_relaxed) & kClaimed) == 0;
  }

  // Makes the result visible. Returns those who waited, in the order in which they came;
  // the caller wakes them.
  [[nodiscard]] Waiter* Publish() {
    return FirstToLast(done_.exchange(kReady | kClaimed, std::memory_order_seq_cst));
  }

  // False when the result is there: the waiter is not taken. Otherwise it is woken when the
  // result comes, possibly before this returns: nothing of the cell is touched any more, so
  // the waiter may hold the caller's own reference.
  [[nodiscard]] bool AddWaiter(Waiter* waiter) {
    std::uintptr_t state = done_.load(std::memory_order_acquire);
    do {
      if ((state & kReady) != 0) return false;
      waiter->next = ListOf(state);
    } while (!done_.compare_exchange_weak(state, WordOf(waiter) | (state & kFlags),
                                          std::memory_order_acq_rel, std::memory_order_acquire));
    return true;
  }

  // Whether somebody no longer wants the result. A hint for the producer.
  [[nodiscard]] bool cancel_requested() const {
    return (cancel_.load(std::memory_order_acquire) & kRequested) != 0;
  }

  // Asks the producer to stop. Returns those who wait for that, in the order in which they
  // came; the caller wakes them. Null when it was asked before, or the result is there.
  [[nodiscard]] Waiter* RequestCancel() { return LeaveOpen(kRequested); }

  // After Publish(), by the same caller: returns those who waited for a request that can no
  // longer matter, for the caller to free.
  [[nodiscard]] Waiter* CloseCancel() {
    const std::uintptr_t state = cancel_.load(std::memory_order_seq_cst);
    if (state == kOpen || (state & kFlags) != 0) return nullptr;
    return LeaveOpen(kClosed);
  }

  // Takes out those who wait for a request; later ones may still come. For the caller to free.
  [[nodiscard]] Waiter* TakeCancelWaiters() { return LeaveOpen(kOpen); }

  // What became of a waiter for cancel.
  enum class Added {
    kWaits,      // It is in the list.
    kRequested,  // The request was there: the caller wakes it.
    kTooLate,    // The result is there: the caller frees it.
  };
  // `too_late` gets the list to free where the result came while this one was added.
  [[nodiscard]] Added AddCancelWaiter(Waiter* waiter, Waiter*& too_late) {
    too_late = nullptr;
    if (is_ready()) return Added::kTooLate;
    std::uintptr_t state = cancel_.load(std::memory_order_acquire);
    do {
      if ((state & kRequested) != 0) return Added::kRequested;
      if ((state & kClosed) != 0) return Added::kTooLate;
      waiter->next = ListOf(state);
    } while (!cancel_.compare_exchange_weak(state, WordOf(waiter), std::memory_order_seq_cst,
                                            std::memory_order_acquire));
    if ((done_.load(std::memory_order_seq_cst) & kReady) != 0) too_late = CloseCancel();
    return Added::kWaits;
  }

  // One more holder. The caller holds a reference.
  void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }

  // One holder less. True for the last: it destroys the cell.
  [[nodiscard]] bool RemoveReference() {
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Whether the caller, who holds a reference, is alone: it then also sees all that former
  // holders did.
  [[nodiscard]] bool is_sole_holder() const {
    return references_.load(std::memory_order_acquire) == 1;
  }

 protected:
  // Starts with one reference, the maker's.
  ~BasicFutureCore() = default;

 private:
  // Flags of `done_`; the rest of the word is the waiter that came last, or null.
  static constexpr std::uintptr_t kReady = 1;
  static constexpr std::uintptr_t kClaimed = 2;
  // Flags of `cancel_`.
  static constexpr std::uintptr_t kOpen = 0;
  static constexpr std::uintptr_t kRequested = 1;
  static constexpr std::uintptr_t kClosed = 2;
  static constexpr std::uintptr_t kFlags = 3;
  static_assert(alignof(Waiter) > kFlags, "two low bits of a waiter's address are flags");

  static Waiter* ListOf(std::uintptr_t state) { return reinterpret_cast<Waiter*>(state & ~kFlags); }
  static std::uintptr_t WordOf(Waiter* waiter) { return reinterpret_cast<std::uintptr_t>(waiter); }

  // The list of `state` turned round: the one that came first is first.
  static Waiter* FirstToLast(std::uintptr_t state) {
    Waiter* first = nullptr;
    for (Waiter* waiter = ListOf(state); waiter != nullptr;) {
      Waiter* next = std::exchange(waiter->next, first);
      first = std::exchange(waiter, next);
    }
    return first;
  }

  // Empties `cancel_` and returns its list; null if it was no longer open. `flag` closes it.
  Waiter* LeaveOpen(std::uintptr_t flag) {
    std::uintptr_t state = cancel_.load(std::memory_order_acquire);
    do {
      if ((state & kFlags) != 0) return nullptr;
    } while (!cancel_.compare_exchange_weak(state, flag, std::memory_order_seq_cst,
                                            std::memory_order_acquire));
    return FirstToLast(state);
  }

  Atomic<std::uintptr_t> done_{0};
  Atomic<std::uintptr_t> cancel_{kOpen};
  Atomic<std::uint32_t> references_{1};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_CORE_H_
