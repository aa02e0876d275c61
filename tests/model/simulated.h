// What the pool is built of when it runs in a Simulation: stand-ins for atomics, locks and
// threads, each operation of which is a step. simulate.cmake puts their names into copies of the
// pool's own sources.

#ifndef JACKDAW_TESTS_MODEL_SIMULATED_H_
#define JACKDAW_TESTS_MODEL_SIMULATED_H_

#include <pthread.h>

#include <atomic>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "tests/model/simulation.h"

namespace jackdaw::simulated {

// What we use of std::atomic. The orders are taken and ignored.
template <typename T>
class Atomic {
 public:
  constexpr Atomic() = default;
  constexpr Atomic(T value) : value_(value) {}  // NOLINT: implicit, as std::atomic.

  T load(std::memory_order = std::memory_order_seq_cst) const {
    Simulation::Step();
    return value_;
  }
  void store(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    value_ = value;
  }
  T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    return std::exchange(value_, value);
  }
  T fetch_add(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    return std::exchange(value_, static_cast<T>(value_ + value));
  }
  T fetch_sub(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    return std::exchange(value_, static_cast<T>(value_ - value));
  }
  T fetch_or(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    return std::exchange(value_, static_cast<T>(value_ | value));
  }
  T fetch_and(T value, std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    return std::exchange(value_, static_cast<T>(value_ & value));
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
    Simulation::Step();
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = value;
    return true;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order = std::memory_order_seq_cst,
                             std::memory_order = std::memory_order_seq_cst) {
    return compare_exchange_strong(expected, value);
  }

 private:
  T value_{};
};

// std::mutex and absl::Mutex.
class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    Simulation::Step();
    while (held_) Simulation::Wait(this, "a mutex");
    held_ = true;
  }
  void unlock() ABSL_UNLOCK_FUNCTION() {
    Release();
    Simulation::Step();
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { unlock(); }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() { Simulation::Require(held_, "not held"); }

 private:
  friend class CondVar;
  void Release() {
    held_ = false;
    Simulation::Wake(this);
  }
  bool held_ = false;
};

// absl::MutexLock.
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

// absl::CondVar. Signal() wakes everybody, as it may.
class CondVar {
 public:
  void Wait(Mutex* mutex) {
    mutex->Release();
    Simulation::Wait(this, "a condition");
    mutex->lock();
  }
  void Signal() { SignalAll(); }
  void SignalAll() {
    Simulation::Wake(this);
    Simulation::Step();
  }
};

// absl::Notification.
class Notification {
 public:
  void Notify() {
    notified_ = true;
    Simulation::Wake(this);
    Simulation::Step();
  }
  [[nodiscard]] bool HasBeenNotified() const {
    Simulation::Step();
    return notified_;
  }
  void WaitForNotification() const {
    Simulation::Step();
    while (!notified_) Simulation::Wait(this, "a notification");
  }

 private:
  bool notified_ = false;
};

// pthread_create(), pthread_join(), pthread_detach().
inline int CreateThread(pthread_t* thread, const pthread_attr_t*, void* (*body)(void*),
                        void* argument) {
  *thread = static_cast<pthread_t>(Simulation::Spawn([body, argument] { body(argument); }));
  return 0;
}
inline int JoinThread(pthread_t thread, void**) {
  Simulation::Join(static_cast<int>(thread));
  return 0;
}
inline int DetachThread(pthread_t) { return 0; }

}  // namespace jackdaw::simulated

#endif  // JACKDAW_TESTS_MODEL_SIMULATED_H_
