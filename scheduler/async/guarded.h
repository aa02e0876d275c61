// Guarded: a value that can be reached under its lock only. For a few instructions that need
// no co_await; a coroutine that has to hold a lock over one uses AsyncMutex.
//
//   Guarded<std::map<std::string, int>> ages;
//   ages.With([](auto& map) { ++map["ada"]; });
//
// Thread safety: any thread. Every method blocks while another is inside.
//
// The functions given to it run under the lock: they are short, wait for nothing, do not call
// back into the same Guarded, and let no pointer to the value out. A coroutine is refused by
// the compiler, for it would run later; see also CheckedLock.

#ifndef JACKDAW_SCHEDULER_ASYNC_GUARDED_H_
#define JACKDAW_SCHEDULER_ASYNC_GUARDED_H_

#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/checked_lock.h"
#include "scheduler/async/spawn.h"

namespace jackdaw {

template <typename T>
class Guarded {
 public:
  template <typename... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // What `f(T&)`, or f(const T&), returns, which is not a reference. What it throws passes.
  template <typename F>
  auto With(F&& f) ABSL_LOCKS_EXCLUDED(mutex_) {
    CheckResult<std::invoke_result_t<F, T&>>();
    const CheckedLock lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <typename F>
  auto With(F&& f) const ABSL_LOCKS_EXCLUDED(mutex_) {
    CheckResult<std::invoke_result_t<F, const T&>>();
    const CheckedLock lock(mutex_);
    return std::forward<F>(f)(value_);
  }

  // Replaces the value by `f(value)`; leaves it as it is when `f` throws.
  template <typename F>
  void Update(F&& f) ABSL_LOCKS_EXCLUDED(mutex_) {
    const CheckedLock lock(mutex_);
    value_ = std::forward<F>(f)(std::as_const(value_));
  }

  // A copy of the value; a new value, and the old one is destroyed outside the lock.
  [[nodiscard]] T Get() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const CheckedLock lock(mutex_);
    return value_;
  }
  void Set(T value) ABSL_LOCKS_EXCLUDED(mutex_) {
    const CheckedLock lock(mutex_);
    std::swap(value_, value);
  }

 private:
  template <typename R>
  static constexpr void CheckResult() {
    static_assert(!std::is_reference_v<R>, "a reference would leave the lock");
    static_assert(!async_internal::IsCoTask<R>::value, "a coroutine would run outside the lock");
  }

  mutable absl::Mutex mutex_;
  T value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_GUARDED_H_
