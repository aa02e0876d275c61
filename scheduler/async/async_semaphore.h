// AsyncSemaphore: a number of units, taken and given back. Whoever asks for more than there
// are is suspended, and holds no thread.
//
//   Future<AsyncSemaphore::Permit> asking = connections.Acquire();
//   const absl::StatusOr<AsyncSemaphore::Permit> permit = co_await std::move(asking);
//   if (!permit.ok()) co_return permit.status();
//   ...  // The permit gives its unit back when it dies.
//
// Thread safety: any thread, but for the destructor and for one permit. A permit may die on
// another thread than it was given to, and may outlive the semaphore, as futures may.
//
// Invariants
//   (1) Units in permits and units available are together those it was made with.
//   (2) Permits are given in the order in which they were asked for: a large request is not
//       overtaken by small ones behind it, and so is served in the end.
//   (3) Waiters are resolved outside the lock.
//
// Cancel: a request that waits and is asked to (Future::RequestCancel()), or whose futures
// were all dropped, leaves the line. One whose turn came first holds its permit.
//
// Errors: INVALID_ARGUMENT for less than one unit, or more than there are at all; CANCELLED;
// ABORTED where the semaphore was destroyed; RESOURCE_EXHAUSTED where kMaxWaiting wait.

#ifndef JACKDAW_SCHEDULER_ASYNC_ASYNC_SEMAPHORE_H_
#define JACKDAW_SCHEDULER_ASYNC_ASYNC_SEMAPHORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "scheduler/async/future.h"

namespace jackdaw {

class AsyncSemaphore {
  class State;

 public:
  // Units that were acquired, and are given back when this dies or is assigned over.
  class [[nodiscard]] Permit {
   public:
    Permit() = default;  // Of nothing.
    Permit(Permit&& other) noexcept
        : state_(std::move(other.state_)), units_(std::exchange(other.units_, 0)) {}
    Permit& operator=(Permit&& other) noexcept {
      Permit moved(std::move(other));
      std::swap(state_, moved.state_);
      std::swap(units_, moved.units_);
      return *this;
    }
    ~Permit() { Release(); }

    // Gives the units back now. May resolve futures, and so run callbacks.
    void Release();
    [[nodiscard]] std::int64_t units() const { return units_; }

   private:
    friend class AsyncSemaphore;
    friend class AsyncCondition;
    Permit(std::shared_ptr<State> state, std::int64_t units)
        : state_(std::move(state)), units_(units) {}

    std::shared_ptr<State> state_;
    std::int64_t units_ = 0;
  };

  explicit AsyncSemaphore(std::int64_t units);
  // Those who wait get ABORTED.
  ~AsyncSemaphore();
  AsyncSemaphore(const AsyncSemaphore&) = delete;
  AsyncSemaphore& operator=(const AsyncSemaphore&) = delete;

  // Resolves to a permit for `units`.
  Future<Permit> Acquire(std::int64_t units = 1);
  // Nothing where that would have to wait, or would fail.
  [[nodiscard]] std::optional<Permit> TryAcquire(std::int64_t units = 1);

  // Units that nobody holds, and requests that wait, at about this moment.
  [[nodiscard]] std::int64_t available() const;
  [[nodiscard]] std::size_t waiting() const;

 private:
  friend class AsyncCondition;
  // For AsyncCondition: lets `promise` wait in the line of the semaphore of `state`.
  static void AcquireFor(const std::shared_ptr<State>& state, Promise<Permit> promise);

  const std::shared_ptr<State> state_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ASYNC_SEMAPHORE_H_
