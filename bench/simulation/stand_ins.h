// Stand-ins: atomics, locks and threads of the simulated machine, with the faces of those that
// the pool's sources use. substitute.h puts them in their place.
//
// Thread safety: as Machine. Outside of a running machine they are plain memory, without a cost.

#ifndef JACKDAW_BENCH_SIMULATION_STAND_INS_H_
#define JACKDAW_BENCH_SIMULATION_STAND_INS_H_

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "bench/simulation/line.h"

namespace jackdaw::simulation {

// std::atomic, of which each has a line to itself.
template <typename T>
class Atomic {
 public:
  using Order = std::memory_order;
  constexpr Atomic() : value_() {}
  constexpr Atomic(T value) : value_(value) {}  // NOLINT(google-explicit-constructor): as std's
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  [[nodiscard]] T load(Order order = Order::seq_cst) const {
    line_.Read(order);
    return value_;
  }
  void store(T value, Order order = Order::seq_cst) {
    line_.Store(order);
    value_ = value;
  }
  T exchange(T value, Order = Order::seq_cst) {
    line_.Modify();
    return std::exchange(value_, value);
  }
  bool compare_exchange_strong(T& expected, T desired, Order = Order::seq_cst,
                               Order = Order::seq_cst) {
    line_.Modify();
    const bool equal = value_ == expected;
    (equal ? value_ : expected) = equal ? desired : value_;
    return equal;
  }
  bool compare_exchange_weak(T& expected, T desired, Order = Order::seq_cst,
                             Order = Order::seq_cst) {
    return compare_exchange_strong(expected, desired);
  }
  T fetch_add(T change, Order = Order::seq_cst) {
    line_.Modify();
    return std::exchange(value_, static_cast<T>(value_ + change));
  }
  T fetch_sub(T change, Order = Order::seq_cst) {
    line_.Modify();
    return std::exchange(value_, static_cast<T>(value_ - change));
  }

 private:
  T value_;
  mutable Line line_;
};

// std::mutex and absl::Mutex. Who waits gets it in turn; nobody sleeps for it.
class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void unlock() ABSL_UNLOCK_FUNCTION();

 private:
  Line line_;
  bool held_ = false;
  std::deque<int> waiting_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(*mutex) {
    mutex_.lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class Notification {
 public:
  void Notify();
  void WaitForNotification();
  [[nodiscard]] bool HasBeenNotified() const { return notified_.load(std::memory_order_acquire); }

 private:
  Atomic<bool> notified_{false};
  int waiting_ = 0;
};

// As their namesakes of POSIX.
int CreateThread(pthread_t* thread, const pthread_attr_t*, void* (*body)(void*), void* argument);
int JoinThread(pthread_t thread, void** result);
int DetachThread(pthread_t thread);
int NameThread(pthread_t thread, const char* name);
int BindThread(pthread_t thread, std::size_t size, const cpu_set_t* set);
int YieldThread();
void Pause();

// For Machine::Options: what the simulated pool calls thread_local.
[[nodiscard]] absl::Span<char> ThreadLocals();

}  // namespace jackdaw::simulation

#endif  // JACKDAW_BENCH_SIMULATION_STAND_INS_H_
