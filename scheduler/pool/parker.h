// Parker: where one worker sleeps. It holds at most one token: Unpark() puts it there,
// Park() sleeps until it is there and takes it.
//
// Thread safety
//   Park()     the worker that owns the parker.
//   Unpark()   any thread; once for each Park(), before or after it (idle_set.h sees to it).
//
// Memory order: what happened before Unpark() is seen after the Park() that it ends
// (acquire-release on `state_`).

#ifndef JACKDAW_SCHEDULER_POOL_PARKER_H_
#define JACKDAW_SCHEDULER_POOL_PARKER_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/futex.h"

namespace jackdaw {

template <template <typename> class Atomic, typename Sleep>
class alignas(kCacheLine) BasicParker {
 public:
  // Blocks until the token is there, without a time-out, and takes it.
  void Park() {
    std::uint32_t state = kEmpty;
    if (state_.compare_exchange_strong(state, kSleeping, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      do {
        Sleep::Wait(state_, kSleeping);
      } while (state_.load(std::memory_order_acquire) == kSleeping);
    }
    state_.store(kEmpty, std::memory_order_relaxed);
  }

  // Leaves the token. A system call only if the worker sleeps. Does not block.
  void Unpark() {
    if (state_.exchange(kToken, std::memory_order_acq_rel) == kSleeping) Sleep::Wake(state_);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kSleeping = 1;
  static constexpr std::uint32_t kToken = 2;
  Atomic<std::uint32_t> state_{kEmpty};
};

using Parker = BasicParker<std::atomic, Futex>;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_PARKER_H_
