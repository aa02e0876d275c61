// What a future holds, and how the work behind it fails.

#ifndef JACKDAW_SCHEDULER_ASYNC_FUTURE_RESULT_H_
#define JACKDAW_SCHEDULER_ASYNC_FUTURE_RESULT_H_

#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// A value or an error; for void, success or an error.
template <typename T>
using FutureResult = std::conditional_t<std::is_void_v<T>, absl::Status, absl::StatusOr<T>>;

// Whether a value can be copied. std::vector says so even where its elements cannot; a
// container of the user's own that does the same needs a specialisation, too.
template <typename T>
inline constexpr bool kCopyable = std::is_copy_constructible_v<T>;
template <typename T, typename A>
inline constexpr bool kCopyable<std::vector<T, A>> = kCopyable<T>;
template <>
inline constexpr bool kCopyable<void> = true;

// ABORTED: the promise died without a result.
[[nodiscard]] absl::Status BrokenPromiseError();
// UNAVAILABLE: runner `name` has been shut down and takes no more work.
[[nodiscard]] absl::Status RunnerGoneError(absl::string_view name);
// CANCELLED: nobody wants the result any more, or runner `name` dropped the work.
[[nodiscard]] absl::Status CancelRequestedError();
[[nodiscard]] absl::Status DroppedError(absl::string_view name);
// FAILED_PRECONDITION: there is no result yet.
[[nodiscard]] absl::Status NotReadyError();
// FAILED_PRECONDITION: the calling thread works for no runner.
[[nodiscard]] absl::Status NoRunnerHereError();
// FAILED_PRECONDITION: Wait() on a worker of the runner that has to do the work itself.
[[nodiscard]] absl::Status WouldDeadlockError();

// UNKNOWN with the message of the exception that is being handled. Inside a catch block only.
[[nodiscard]] absl::Status StatusOfCurrentException();

namespace async_internal {

template <typename T>
struct ValueOf {
  using type = T;
};
template <>
struct ValueOf<absl::Status> {
  using type = void;
};
template <typename T>
struct ValueOf<absl::StatusOr<T>> {
  using type = T;
};

}  // namespace async_internal

// The T of the future that a function returning R gives: R itself, or what is inside where R
// is a Status (void) or a StatusOr.
template <typename R>
using ResultValue = typename async_internal::ValueOf<std::decay_t<R>>::type;

// Calls `f` and returns what it returned as a result; an exception becomes an error.
template <typename F, typename... Args>
[[nodiscard]] auto CallForResult(F&& f, Args&&... args) noexcept
    -> FutureResult<ResultValue<std::invoke_result_t<F, Args...>>> {
  using Returned = std::invoke_result_t<F, Args...>;
  try {
    if constexpr (std::is_void_v<Returned>) {
      std::forward<F>(f)(std::forward<Args>(args)...);
      return absl::OkStatus();
    } else {
      return std::forward<F>(f)(std::forward<Args>(args)...);
    }
  } catch (...) {
    return StatusOfCurrentException();
  }
}

// The status of a result: that of a StatusOr, or the Status itself.
inline const absl::Status& StatusOf(const absl::Status& result) { return result; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FUTURE_RESULT_H_
