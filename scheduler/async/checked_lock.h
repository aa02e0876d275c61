// CheckedLock: absl::MutexLock for code that might be a coroutine. A thread's lock held over
// a co_await blocks every task that wants it next on that worker, and is unlocked by a thread
// that never locked it. This one makes that end the program, where the plain one may only
// hang, one day. Use AsyncMutex to hold a lock over a co_await.
//
// How it sees it: each thread counts the CheckedLocks it holds. When a coroutine suspends, and
// when it ends, its thread must hold no more of them than when it was resumed. A lock taken
// by hand, or by absl::MutexLock, is not seen: for those the rule is in co_task.h only.
//
// Thread safety: as absl::MutexLock.

#ifndef JACKDAW_SCHEDULER_ASYNC_CHECKED_LOCK_H_
#define JACKDAW_SCHEDULER_ASYNC_CHECKED_LOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace jackdaw {

class ABSL_SCOPED_LOCKABLE CheckedLock {
 public:
  explicit CheckedLock(absl::Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
    CountHere(1);
  }
  ~CheckedLock() ABSL_UNLOCK_FUNCTION() {
    CountHere(-1);
    mutex_.Unlock();
  }
  CheckedLock(const CheckedLock&) = delete;
  CheckedLock& operator=(const CheckedLock&) = delete;

  // How many the calling thread holds.
  [[nodiscard]] static int HeldHere();
  // For whoever resumes coroutines: ends the program if the calling thread holds another
  // number of them than `before`, when the coroutine was resumed.
  static void CheckNoneHeldSince(int before);

 private:
  // Not inlined, so that a coroutine which changed threads counts on the new one.
  static void CountHere(int change);

  absl::Mutex& mutex_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_CHECKED_LOCK_H_
