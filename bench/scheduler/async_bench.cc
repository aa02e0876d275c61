// Fork-join and futures, each beside its baseline in the same run: fib(32) beside plain calls
// and oneTBB's task group, a future beside std::future, an await beside a queued task.

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/support/compare.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/fork_join.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kFib = 32;
constexpr std::int64_t kFibResult = 2'178'309;
constexpr double kForks = 3'524'577;  // Calls of fib(32) that fork: fib(33) - 1.
constexpr int kFutures = 200'000;

// Not inlined into itself, or the compiler unrolls several levels into one call.
__attribute__((noinline)) std::int64_t PlainFib(int n) {
  if (n < 2) return n;
  return PlainFib(n - 1) + PlainFib(n - 2);
}

std::int64_t Fib(int n) {
  if (n < 2) return n;
  std::int64_t left = 0;
  std::int64_t right = 0;
  ForkJoin([&] { left = Fib(n - 1); }, [&] { right = Fib(n - 2); }).IgnoreError();
  return left + right;
}

std::int64_t TbbFib(int n) {
  if (n < 2) return n;
  std::int64_t left = 0;
  tbb::task_group group;
  group.run([&] { left = TbbFib(n - 1); });
  const std::int64_t right = TbbFib(n - 2);
  group.wait();
  return left + right;
}

template <typename Body>
double NanosPer(double count, Body&& body) {
  const double begin = Now();
  body();
  return (Now() - begin) * 1e9 / count;
}

void Check(std::int64_t result, std::int64_t expected) {
  if (result == expected) return;
  std::fprintf(stderr, "wrong result: %lld\n", static_cast<long long>(result));
  std::abort();
}

void ForkJoinFib(int workers) {
  WorkStealingPool pool({.name = "bench", .workers = workers});
  tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                              static_cast<std::size_t>(workers));
  tbb::task_arena arena(workers);
  Compare compare(absl::StrCat("fork-join fib(32), ", workers, " worker(s)"), "ns a fork");
  compare.Add("plain calls",
              [] { return NanosPer(kForks, [] { Check(PlainFib(kFib), kFibResult); }); });
  compare.Add("ForkJoin", [&] {
    return NanosPer(kForks, [&] {
      std::int64_t result = 0;
      InvokeOn(pool, [&] { result = Fib(kFib); }).IgnoreError();
      Check(result, kFibResult);
    });
  });
  compare.Add("oneTBB task_group", [&] {
    return NanosPer(kForks, [&] {
      std::int64_t result = 0;
      arena.execute([&] { result = TbbFib(kFib); });
      Check(result, kFibResult);
    });
  });
  compare.Run(kRounds);
}

void FulfilAndRead() {
  Compare compare("a future: make, fulfil, read, destroy; one thread", "ns");
  compare.Add("std::promise", [] {
    return NanosPer(kFutures, [] {
      std::int64_t sum = 0;
      for (int i = 0; i < kFutures; ++i) {
        std::promise<int> promise;
        std::future<int> future = promise.get_future();
        promise.set_value(1);
        sum += future.get();
      }
      Check(sum, kFutures);
    });
  });
  compare.Add("Promise", [] {
    return NanosPer(kFutures, [] {
      std::int64_t sum = 0;
      for (int i = 0; i < kFutures; ++i) {
        const Promise<int> promise;
        const Future<int> future = promise.future();
        promise.Fulfil(1);
        sum += **future.Peek();
      }
      Check(sum, kFutures);
    });
  });
  compare.Add("Promise, with Map()", [] {
    return NanosPer(kFutures, [] {
      std::int64_t sum = 0;
      for (int i = 0; i < kFutures; ++i) {
        const Promise<int> promise;
        const Future<int> future = promise.future().Map([](int value) { return value; });
        promise.Fulfil(1);
        sum += **future.Peek();
      }
      Check(sum, kFutures);
    });
  });
  compare.Run(kRounds);
}

// One coroutine awaits what another, on the same pool, fulfils: a suspension, a trip through
// the deque, a resumption.
CoTask<int> AwaitEach(const std::vector<Promise<int>>& promises) {
  int sum = 0;
  for (const Promise<int>& promise : promises) {
    const Future<int> future = promise.future();
    const absl::StatusOr<int>& value = co_await future;
    sum += *value;
  }
  co_return sum;
}

CoTask<int> FulfilEach(const std::vector<Promise<int>>& promises) {
  for (const Promise<int>& promise : promises) {
    promise.Fulfil(1);
    co_await Yield();
  }
  co_return 0;
}

CoTask<int> Child() { co_return 1; }

void Awaits() {
  WorkStealingPool pool({.name = "bench", .workers = 1});
  Compare compare("coroutines on one worker", "ns");
  compare.Add("Spawn() of a function", [&] {
    return NanosPer(kFutures, [&] {
      const Future<void> all = Spawn(pool, [&pool] {
        for (int i = 0; i < kFutures; ++i) const Future<int> one = Spawn(pool, [] { return 1; });
      });
      (void)all.Wait();
    });
  });
  compare.Add("co_await of a child", [&] {
    return NanosPer(kFutures, [&] {
      const Future<int> sum = Spawn(pool, []() -> CoTask<int> {
        int total = 0;
        for (int i = 0; i < kFutures; ++i) {
          CoTask<int> child = Child();
          const absl::StatusOr<int> value = co_await child;
          total += *value;
        }
        co_return total;
      });
      Check(*sum.Wait(), kFutures);
    });
  });
  compare.Add("co_await of a ready future", [&] {
    return NanosPer(kFutures, [&] {
      const Future<int> sum = Spawn(pool, []() -> CoTask<int> {
        const Future<int> one = Future<int>::Ready(1);
        int total = 0;
        for (int i = 0; i < kFutures; ++i) {
          const absl::StatusOr<int>& value = co_await one;
          total += *value;
        }
        co_return total;
      });
      Check(*sum.Wait(), kFutures);
    });
  });
  compare.Add("fulfil, suspended await, Yield()", [&] {
    const std::vector<Promise<int>> promises(kFutures);
    return NanosPer(kFutures, [&] {
      const Future<int> sum = Spawn(pool, AwaitEach(promises));
      const Future<int> done = Spawn(pool, FulfilEach(promises));
      Check(*sum.Wait(), kFutures);
      (void)done.Wait();
    });
  });
  compare.Run(kRounds);
}

}  // namespace
}  // namespace jackdaw::bench

int main() {
  jackdaw::bench::ForkJoinFib(1);
  jackdaw::bench::ForkJoinFib(2);
  jackdaw::bench::FulfilAndRead();
  jackdaw::bench::Awaits();
}
