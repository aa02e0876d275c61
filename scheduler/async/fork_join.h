// Fork-join: divides work in two, does one half, and lets an idle worker take the other.
//
//   std::int64_t Fib(int n) {
//     if (n < 2) return n;
//     std::int64_t left, right;
//     ForkJoin([&] { left = Fib(n - 1); }, [&] { right = Fib(n - 2); }).IgnoreError();
//     return left + right;
//   }
//
// Joining helps instead of blocking. The joiner runs the fork itself if nobody took it. If
// somebody did, it runs forks of that work, and of no other, from the taker's deque; at most
// kMaxHelpDepth such waits are nested on a stack. Only when there is nothing of its own does
// it block, until the fork is done or its taker forks again.
//
// Invariants
//   (1) A fork is always joined before it dies, also when the work between throws: it may use
//       the variables of the function that forked.
//   (2) The fork itself lives on the forking stack; forking allocates nothing.
//   (3) While one fork is waited for, no unrelated task runs on the waiting stack. Exception:
//       where the taker finishes and goes on just as the waiter steals from it, the waiter
//       runs one such fork of other work, rather than strand it.
//
// Where it runs: forks are shared among the workers of a WorkStealingPool; off such a worker,
// and beyond kMaxForksPerThread unjoined forks, a fork simply runs at once.
//
// Thread safety: a fork belongs to the thread that made it. In a coroutine, none may be
// alive across a co_await.
//
// Errors: what is forked returns void, a value, a Status or a StatusOr; an exception becomes
// UNKNOWN. A fork that a cancelled pool drops gives CANCELLED.

#ifndef JACKDAW_SCHEDULER_ASYNC_FORK_JOIN_H_
#define JACKDAW_SCHEDULER_ASYNC_FORK_JOIN_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/async/fork_node.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/spawn.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

// A call of `f` that may happen on another worker. Made by Fork().
template <typename F>
class [[nodiscard]] Forked final : private ForkNode {
 public:
  using Result = FutureResult<ResultValue<std::invoke_result_t<F&>>>;

  explicit Forked(F f) : ForkNode(&Forked::Call), f_(std::forward<F>(f)) { Offer(); }
  ~Forked() {
    if (!is_joined()) JoinNode();
  }

  // Returns what `f` returned, once it has. Once, by the thread that forked.
  [[nodiscard]] Result Join() {
    JoinNode();
    return *std::move(result_);
  }

 private:
  static void Call(ForkNode* node, Task::Verb verb) noexcept {
    auto* self = static_cast<Forked*>(node);
    if (verb == Task::Verb::kRun) {
      self->result_.emplace(CallForResult(self->f_));
    } else {
      self->result_.emplace(absl::CancelledError("the pool was cancelled before the fork ran"));
    }
  }

  F f_;
  std::optional<Result> result_;
};

// Lets `f()` run on another worker while the caller goes on; Join() it last in, first out.
template <typename F>
Forked<std::decay_t<F>> Fork(F&& f) {
  return Forked<std::decay_t<F>>(std::forward<F>(f));
}

// Forks `left`, runs `right` here, joins. Both have ended on return, whatever happened to
// either. OK, or the error of `left`, or else that of `right`; values are dropped.
template <typename F, typename G>
absl::Status ForkJoin(F&& left, G&& right) {
  Forked<F&> forked(left);
  auto right_result = CallForResult(right);
  const auto left_result = forked.Join();
  return StatusOf(left_result).ok() ? StatusOf(right_result) : StatusOf(left_result);
}

// Runs all of them, each but the last forked; returns the first error in their order.
template <typename F>
absl::Status Invoke(F&& last) {
  return StatusOf(CallForResult(last));
}
template <typename F, typename... Rest>
absl::Status Invoke(F&& first, Rest&&... rest) {
  return ForkJoin(first, [&] { return Invoke(rest...); });
}

// The same on `pool`, from any thread: on one of its workers as above; elsewhere it submits
// and blocks. On a pool without threads all of it runs on the caller. UNAVAILABLE when the
// pool has been shut down.
template <typename... Functions>
absl::Status InvokeOn(Runner& pool, Functions&&... functions) {
  if (Runner::Current() == &pool || pool.size() == 0) return Invoke(functions...);
  const Future<void> done = Spawn(pool, [&] { return Invoke(functions...); });
  return done.Wait();
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_FORK_JOIN_H_
