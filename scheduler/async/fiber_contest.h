// Contest: several fibers of which one decides the result. Users see AnyOf() and FirstOf() of
// fiber_groups.h.
//
// Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_FIBER_CONTEST_H_
#define JACKDAW_SCHEDULER_ASYNC_FIBER_CONTEST_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/combined_error.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/scope.h"

namespace jackdaw::async_internal {

// The value type of the fiber that runs `F`.
template <typename F>
using FiberValue = typename decltype(SpawnChild(std::declval<F>()))::Value;

// Who decides the result of several fibers: one that ended, or, where only success counts, the
// last to fail.
template <typename V>
class Contest {
 public:
  Contest(std::size_t count, bool errors_count) : left_(count), errors_count_(errors_count) {}

  [[nodiscard]] Future<V> winner() const { return promise_.future(); }

  void Ended(FutureResult<V> result) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (errors_count_ || StatusOf(result).ok()) {
      promise_.TryFulfil(std::move(result));
      return;
    }
    absl::Status all_failed;
    {
      absl::MutexLock lock(&mutex_);
      errors_.Add(StatusOf(result));
      if (--left_ > 0) return;
      all_failed = errors_.ToStatus();
    }
    promise_.TryFulfil(std::move(all_failed));
  }

 private:
  const Promise<V> promise_;
  absl::Mutex mutex_;
  std::size_t left_ ABSL_GUARDED_BY(mutex_);
  CombinedError errors_ ABSL_GUARDED_BY(mutex_);
  const bool errors_count_;
};

template <typename F>
auto RunContest(std::vector<F> bodies, bool errors_count) -> CoTask<FutureResult<FiberValue<F>>> {
  using V = FiberValue<F>;
  if (bodies.empty()) co_return absl::InvalidArgumentError("a contest of no fibers");
  // Of its own: the losers' last callbacks may come after the scope has ended.
  auto contest = std::make_shared<Contest<V>>(bodies.size(), errors_count);
  auto run = Scope::Run([&](Scope& scope) -> CoTask<FutureResult<V>> {
    for (F& body : bodies) {
      const Fiber<V> fiber = scope.Spawn(std::move(body), {.protect = true});
      fiber.future().AddCallback(
          [contest](Future<V> ended) { contest->Ended(std::move(ended).Take()); });
    }
    Future<V> winner = contest->winner();
    FutureResult<V> result = co_await std::move(winner);
    scope.Cancel();
    co_return result;
  });
  FutureResult<V> result = co_await run;
  co_return result;
}

}  // namespace jackdaw::async_internal

#endif  // JACKDAW_SCHEDULER_ASYNC_FIBER_CONTEST_H_
