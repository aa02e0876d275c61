// ForEach and ForEachIndex: one task for each element, and one future for all of them. They
// do not wait and do not split: for many small pieces of work use ParallelFor(), which does.
//
//   Future<void> all = ForEach(pool, files, [](const std::string& file) { return Check(file); });
//
// Thread safety: any thread. Of `f`: it is called on many workers at once.
//
// Errors: `f` returns nothing, a value (dropped), a Status, a StatusOr or a CoTask of those.
// The future resolves when no call is running any more: to OK, or to an error of those that
// failed, the one lowest in the order. After the first failure, and on a request to cancel,
// calls that have not begun never do.

#ifndef JACKDAW_SCHEDULER_ASYNC_FOR_EACH_H_
#define JACKDAW_SCHEDULER_ASYNC_FOR_EACH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/spawn.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace async_internal {

// What the calls of one loop share.
template <typename F>
struct Loop {
  explicit Loop(F&& function) : f(std::move(function)) {}

  absl::Status Note(absl::Status status) {
    // A hint, which orders nothing: a call that misses it runs in vain.
    if (!status.ok()) failed.store(true, std::memory_order_relaxed);
    return status;
  }
  [[nodiscard]] bool has_failed() const { return failed.load(std::memory_order_relaxed); }

  F f;
  std::atomic<bool> failed{false};
};

// One call. One that is skipped is not an error of its own: the one that failed is.
template <typename F, typename Argument>
Future<void> SpawnCall(Runner& runner, const std::shared_ptr<Loop<F>>& loop, Argument argument) {
  if constexpr (IsCoTask<std::invoke_result_t<F&, Argument>>::value) {
    return Spawn(runner, [loop, argument]() -> CoTask<absl::Status> {
      if (loop->has_failed()) co_return absl::OkStatus();
      auto call = loop->f(static_cast<Argument>(argument));
      const auto result = co_await call;
      co_return loop->Note(StatusOf(result));
    });
  } else {
    return Spawn(runner, [loop, argument] {
      if (loop->has_failed()) return absl::OkStatus();
      return loop->Note(StatusOf(CallForResult(loop->f, static_cast<Argument>(argument))));
    });
  }
}

}  // namespace async_internal

// Calls f(0) to f(count - 1), each as a task of `runner`.
template <typename F>
Future<void> ForEachIndex(Runner& runner, std::int64_t count, F f) {
  auto loop = std::make_shared<async_internal::Loop<F>>(std::move(f));
  std::vector<Future<void>> calls;
  calls.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    calls.push_back(async_internal::SpawnCall(runner, loop, i));
  }
  return Barrier(calls);
}

// Calls f(element) for each element of `range`, which outlives the future, each call as a
// task of `runner`.
template <typename Range, typename F>
Future<void> ForEach(Runner& runner, Range& range, F f) {
  using Element = decltype(*std::begin(range));
  auto call = [f = std::move(f)](auto* element) mutable {
    return f(static_cast<Element>(*element));
  };
  auto loop = std::make_shared<async_internal::Loop<decltype(call)>>(std::move(call));
  std::vector<Future<void>> calls;
  for (auto& element : range) {
    calls.push_back(async_internal::SpawnCall(runner, loop, std::addressof(element)));
  }
  return Barrier(calls);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FOR_EACH_H_
