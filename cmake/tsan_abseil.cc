// Tells ThreadSanitizer what Abseil's locks order. Debian's Abseil is built without the
// sanitizer, which therefore does not see that one thread's Unlock() happened before
// another's Lock(), and reports a race on everything that a lock guards. The linker sends our
// calls here (see tsan_abseil.wraps); each makes the real call and states the edge that it
// really gives, no more. Linked into programs of the `tsan` build only.

#include <cstdint>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace {

using absl::Condition;
using absl::CondVar;
using absl::Duration;
using absl::Mutex;
using absl::Notification;
using absl::Time;

// Abseil's own search for deadlocks keeps its graph under a lock of its library's inside, which
// is not among our calls: the sanitizer would report its writes. The other builds keep it.
[[maybe_unused]] const bool searches_for_no_deadlocks = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();

void* Address(const void* object) { return const_cast<void*>(object); }

// A condition may be evaluated by the thread that unlocks as well as by the one that waits.
// Both hold the lock then, and so have seen what was done under it, the making of the
// condition included; and the waiter goes on only after it was evaluated.
struct Guarded {
  Mutex* mutex;
  const Condition* condition;
  static bool Eval(Guarded* guarded) {
    __tsan_acquire(guarded->mutex);
    const bool holds = guarded->condition->Eval();
    __tsan_release(guarded->mutex);
    return holds;
  }
};

// The flag that the inline HasBeenNotified() reads follows the mutex of a Notification.
void* Flag(const Notification* notification) {
  return static_cast<char*>(Address(notification)) + sizeof(Mutex);
}

}  // namespace

// Declares the real function and opens the definition of the wrapper. A member function is
// called as a free one with `this` in front.
#define WRAP(result, symbol, ...)                           \
  result Real_##symbol(__VA_ARGS__) asm("__real_" #symbol); \
  result Wrap_##symbol(__VA_ARGS__) asm("__wrap_" #symbol); \
  result Wrap_##symbol(__VA_ARGS__)

// ---- Mutex ----

WRAP(void, _ZN4absl7debian35Mutex4LockEv, Mutex* mutex) {
  Real__ZN4absl7debian35Mutex4LockEv(mutex);
  __tsan_acquire(mutex);
}
WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, Mutex* mutex) {
  __tsan_release(mutex);
  Real__ZN4absl7debian35Mutex6UnlockEv(mutex);
}
WRAP(bool, _ZN4absl7debian35Mutex7TryLockEv, Mutex* mutex) {
  const bool locked = Real__ZN4absl7debian35Mutex7TryLockEv(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}
WRAP(void, _ZN4absl7debian35Mutex10ReaderLockEv, Mutex* mutex) {
  Real__ZN4absl7debian35Mutex10ReaderLockEv(mutex);
  __tsan_acquire(mutex);
}
WRAP(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, Mutex* mutex) {
  __tsan_release(mutex);
  Real__ZN4absl7debian35Mutex12ReaderUnlockEv(mutex);
}
WRAP(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, Mutex* mutex) {
  const bool locked = Real__ZN4absl7debian35Mutex13ReaderTryLockEv(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}
WRAP(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE, Mutex* mutex,
     const Condition& condition) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  Real__ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE(mutex, evaluated);
  __tsan_acquire(mutex);
}
WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, Mutex* mutex,
     const Condition& condition) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  Real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, evaluated);
  __tsan_acquire(mutex);
}
WRAP(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE, Mutex* mutex,
     const Condition& condition, Duration timeout) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  const bool held = Real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
      mutex, evaluated, timeout);
  __tsan_acquire(mutex);
  return held;
}
WRAP(bool, _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE, Mutex* mutex,
     const Condition& condition, Time deadline) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  const bool held = Real__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(
      mutex, evaluated, deadline);
  __tsan_acquire(mutex);
  return held;
}
WRAP(bool, _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
     Mutex* mutex, const Condition& condition, Duration timeout) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  const bool held =
      Real__ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE(
          mutex, evaluated, timeout);
  __tsan_acquire(mutex);
  return held;
}
WRAP(bool, _ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE, Mutex* mutex,
     const Condition& condition, Time deadline) {
  Guarded guarded{mutex, &condition};
  const Condition evaluated(&Guarded::Eval, &guarded);
  __tsan_release(mutex);
  const bool held = Real__ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE(
      mutex, evaluated, deadline);
  __tsan_acquire(mutex);
  return held;
}

// ---- CondVar: gives the lock up and takes it again ----

WRAP(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE, CondVar* changed, Mutex* mutex) {
  __tsan_release(mutex);
  Real__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(changed, mutex);
  __tsan_acquire(mutex);
}
WRAP(bool, _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE, CondVar* changed,
     Mutex* mutex, Duration timeout) {
  __tsan_release(mutex);
  const bool late = Real__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(
      changed, mutex, timeout);
  __tsan_acquire(mutex);
  return late;
}
WRAP(bool, _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE, CondVar* changed,
     Mutex* mutex, Time deadline) {
  __tsan_release(mutex);
  const bool late = Real__ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE(
      changed, mutex, deadline);
  __tsan_acquire(mutex);
  return late;
}

// ---- Notification, BlockingCounter, Barrier ----

WRAP(void, _ZN4absl7debian312Notification6NotifyEv, Notification* notification) {
  __tsan_release(Flag(notification));
  Real__ZN4absl7debian312Notification6NotifyEv(notification);
}
WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
     const Notification* notification) {
  Real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(Flag(notification));
}
WRAP(bool, _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
     const Notification* notification, Duration timeout) {
  const bool notified =
      Real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
          notification, timeout);
  if (notified) __tsan_acquire(Flag(notification));
  return notified;
}
WRAP(bool, _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
     const Notification* notification, Time deadline) {
  const bool notified =
      Real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(notification,
                                                                                       deadline);
  if (notified) __tsan_acquire(Flag(notification));
  return notified;
}
WRAP(bool, _ZN4absl7debian315BlockingCounter14DecrementCountEv, absl::BlockingCounter* counter) {
  __tsan_release(counter);
  return Real__ZN4absl7debian315BlockingCounter14DecrementCountEv(counter);
}
WRAP(void, _ZN4absl7debian315BlockingCounter4WaitEv, absl::BlockingCounter* counter) {
  Real__ZN4absl7debian315BlockingCounter4WaitEv(counter);
  __tsan_acquire(counter);
}
WRAP(bool, _ZN4absl7debian37Barrier5BlockEv, absl::Barrier* barrier) {
  __tsan_release(barrier);
  const bool last = Real__ZN4absl7debian37Barrier5BlockEv(barrier);
  __tsan_acquire(barrier);
  return last;
}

// ---- Status ----

// Whoever drops the last reference frees what the others read before they dropped theirs.
WRAP(void, _ZN4absl7debian36Status15UnrefNonInlinedEm, std::uintptr_t rep) {
  void* shared = reinterpret_cast<void*>(rep);
  __tsan_release(shared);
  __tsan_acquire(shared);
  Real__ZN4absl7debian36Status15UnrefNonInlinedEm(rep);
}
