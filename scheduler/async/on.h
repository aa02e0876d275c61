// On: a step of a chain of futures on another runner.
//
//   Future<Page> page = request.Then(On(blocking, Fetch)).Then(On(compute, Parse));
//
// Thread safety: any thread. The runner outlives the future of the step.
//
// Errors: those of Spawn(), so UNAVAILABLE where the runner has been shut down meanwhile.

#ifndef JACKDAW_SCHEDULER_ASYNC_ON_H_
#define JACKDAW_SCHEDULER_ASYNC_ON_H_

#include <tuple>
#include <type_traits>
#include <utility>

#include "scheduler/async/future.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/spawn.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

// A function that, called with arguments, spawns `f` with them on `runner` and returns the
// future of what `f` gives: a value, a Status, a StatusOr, a CoTask or a future. For Then()
// and ThenResult(); it is called at most once.
template <typename F>
[[nodiscard]] auto On(Runner& runner, F&& f) {
  return [&runner, f = std::decay_t<F>(std::forward<F>(f))](auto&&... args) mutable {
    // The arguments live beside `f` until the work has ended: it may be a coroutine.
    auto call = [f = std::move(f), arguments = std::tuple<std::decay_t<decltype(args)>...>(
                                       std::forward<decltype(args)>(args)...)]() mutable {
      return std::apply(f, std::move(arguments));
    };
    if constexpr (async_internal::IsFuture<std::invoke_result_t<decltype(call)&>>::value) {
      return Flatten(Spawn(runner, std::move(call)));
    } else {
      return Spawn(runner, std::move(call));
    }
  };
}

// Spawns on the runner that the calling thread works for. FAILED_PRECONDITION where it works
// for none.
template <typename F>
auto SpawnHere(F&& f) -> decltype(Spawn(std::declval<Runner&>(), std::forward<F>(f))) {
  Runner* runner = Runner::Current();
  if (runner != nullptr) return Spawn(*runner, std::forward<F>(f));
  return decltype(Spawn(*runner, std::forward<F>(f)))::Ready(NoRunnerHereError());
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_ON_H_
