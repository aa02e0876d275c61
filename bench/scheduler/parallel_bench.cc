// The parallel algorithms beside a plain loop, a split by hand over std::thread, oneTBB and GNU
// OpenMP (where the compiler has it), on bodies of three kinds: many tiny ones, ones whose cost
// grows with the index, and few expensive ones.
//
// Each contestant starts from a thread outside its pool and waits for the end. The split by
// hand starts one thread fewer than there are workers and works itself: in equal halves, or by
// a shared counter, whichever is better for the body.

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/support/compare.h"
#include "scheduler/async/parallel_for.h"
#include "scheduler/async/parallel_reduce.h"
#include "scheduler/async/parallel_scan.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 9;
constexpr std::int64_t kDoubles = 10'000'000;
constexpr std::int64_t kSkewed = 20'000;
constexpr std::int64_t kFew = 16;
constexpr std::int64_t kCounterChunk = 64;  // Items a turn of the shared counter.

// Not to be optimised away, nor to touch memory.
void Spin(std::int64_t turns) {
  for (std::int64_t i = 0; i < turns; ++i) asm volatile("" ::: "memory");
}

template <typename F>
double Millis(F&& f) {
  const double begin = Now();
  f();
  return (Now() - begin) * 1e3;
}

// Equal shares, one on the calling thread. `share(begin, end)`.
template <typename F>
void SplitEvenly(int workers, std::int64_t count, F&& share) {
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; ++i) {
    threads.emplace_back([&, i] { share(count * i / workers, count * (i + 1) / workers); });
  }
  share(0, count / workers);
  for (std::thread& thread : threads) thread.join();
}

template <typename F>
void SplitByCounter(int workers, std::int64_t count, std::int64_t chunk, F&& share) {
  std::atomic<std::int64_t> next{0};
  SplitEvenly(workers, workers, [&](std::int64_t, std::int64_t) {
    for (std::int64_t i = next.fetch_add(chunk); i < count; i = next.fetch_add(chunk)) {
      share(i, std::min(i + chunk, count));
    }
  });
}

// A loop of `count` bodies in every manner. `by_counter`: how the split by hand divides.
template <typename Body>
void Loop(const std::string& title, int workers, std::int64_t count, std::int64_t counter_chunk,
          const Body& body) {
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  };
  WorkStealingPool pool({.name = "bench", .workers = workers});
  tbb::task_arena arena(workers);
  Compare compare(absl::StrCat(title, ", ", workers, " worker(s)"), "ms");
  compare.Add("plain loop", [&] { return Millis([&] { range(0, count); }); });
  compare.Add("by hand, equal shares",
              [&] { return Millis([&] { SplitEvenly(workers, count, range); }); });
  compare.Add("by hand, shared counter", [&] {
    return Millis([&] { SplitByCounter(workers, count, counter_chunk, range); });
  });
  compare.Add("ParallelFor", [&] {
    return Millis([&] { ParallelFor(pool, std::int64_t{0}, count, body).IgnoreError(); });
  });
  compare.Add("oneTBB parallel_for", [&] {
    return Millis([&] {
      arena.execute([&] {
        tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count),
                          [&](const auto& part) { range(part.begin(), part.end()); });
      });
    });
  });
#ifdef _OPENMP
  compare.Add("OpenMP static", [&] {
    return Millis([&] {
#pragma omp parallel for num_threads(workers) schedule(static)
      for (std::int64_t i = 0; i < count; ++i) body(i);
    });
  });
  compare.Add("OpenMP guided", [&] {
    return Millis([&] {
#pragma omp parallel for num_threads(workers) schedule(guided)
      for (std::int64_t i = 0; i < count; ++i) body(i);
    });
  });
#endif
  compare.Run(kRounds);
}

double SumOf(const std::vector<double>& values, std::int64_t begin, std::int64_t end) {
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += values[static_cast<std::size_t>(i)];
  return sum;
}

double SumByHand(const std::vector<double>& values, int workers) {
  std::atomic<double> sum{0};
  SplitEvenly(workers, kDoubles, [&](std::int64_t begin, std::int64_t end) {
    sum.fetch_add(SumOf(values, begin, end));
  });
  return sum.load();
}

double SumByTbb(const std::vector<double>& values, tbb::task_arena& arena) {
  return arena.execute([&] {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::int64_t>(0, kDoubles), 0.0,
        [&](const auto& part, double sum) { return sum + SumOf(values, part.begin(), part.end()); },
        std::plus<>());
  });
}

void Check(double sum) {
  if (std::abs(sum - static_cast<double>(kDoubles)) < 1) return;
  std::fprintf(stderr, "wrong sum: %f\n", sum);
  std::abort();
}

void Reduce(int workers) {
  const std::vector<double> values(static_cast<std::size_t>(kDoubles), 1.0);
  WorkStealingPool pool({.name = "bench", .workers = workers});
  tbb::task_arena arena(workers);
  Compare compare(absl::StrCat("sum of 10M doubles, ", workers, " worker(s)"), "ms");
  compare.Add("plain loop", [&] { return Millis([&] { Check(SumOf(values, 0, kDoubles)); }); });
  compare.Add("by hand, equal shares",
              [&] { return Millis([&] { Check(SumByHand(values, workers)); }); });
  compare.Add("ParallelReduce", [&] {
    return Millis([&] {
      Check(
          *ParallelReduce(pool, values.begin(), values.end(), 0.0, std::identity(), std::plus<>()));
    });
  });
  compare.Add("oneTBB parallel_reduce",
              [&] { return Millis([&] { Check(SumByTbb(values, arena)); }); });
#ifdef _OPENMP
  compare.Add("OpenMP reduction", [&] {
    return Millis([&] {
      double sum = 0;
#pragma omp parallel for num_threads(workers) reduction(+ : sum)
      for (std::int64_t i = 0; i < kDoubles; ++i) sum += values[static_cast<std::size_t>(i)];
      Check(sum);
    });
  });
#endif
  compare.Run(kRounds);
}

void Scan(int workers) {
  const std::vector<double> values(static_cast<std::size_t>(kDoubles), 1.0);
  std::vector<double> sums(values.size());
  WorkStealingPool pool({.name = "bench", .workers = workers});
  tbb::task_arena arena(workers);
  Compare compare(absl::StrCat("inclusive scan of 10M doubles, ", workers, " worker(s)"), "ms");
  compare.Add("std::inclusive_scan", [&] {
    return Millis([&] { std::inclusive_scan(values.begin(), values.end(), sums.begin()); });
  });
  compare.Add("ParallelInclusiveScan", [&] {
    return Millis([&] {
      ParallelInclusiveScan(pool, values.begin(), values.end(), sums.begin(), std::plus<>())
          .IgnoreError();
    });
  });
  compare.Add("oneTBB parallel_scan", [&] {
    return Millis([&] {
      arena.execute([&] {
        tbb::parallel_scan(
            tbb::blocked_range<std::size_t>(0, values.size()), 0.0,
            [&](const auto& part, double sum, bool is_final) {
              for (std::size_t i = part.begin(); i < part.end(); ++i) {
                sum += values[i];
                if (is_final) sums[i] = sum;
              }
              return sum;
            },
            std::plus<>());
      });
    });
  });
  compare.Run(kRounds);
  Check(sums.back());
}

void AtWorkers(int workers) {
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
  std::vector<double> values(static_cast<std::size_t>(kDoubles), 1.0);
  Loop("10M tiny bodies", workers, kDoubles, kCounterChunk * 1024, [&](std::int64_t i) {
    double& value = values[static_cast<std::size_t>(i)];
    value = value * 0.5 + 1;
  });
  Loop("200 tiny bodies", workers, 200, kCounterChunk, [&](std::int64_t i) {
    double& value = values[static_cast<std::size_t>(i)];
    value = value * 0.5 + 1;
  });
  Loop("20,000 bodies that grow", workers, kSkewed, kCounterChunk,
       [](std::int64_t i) { Spin(i / 4); });
  Loop("16 bodies of about a millisecond", workers, kFew, 1, [](std::int64_t) { Spin(3'000'000); });
  Reduce(workers);
  Scan(workers);
}

}  // namespace
}  // namespace jackdaw::bench

int main() {
  jackdaw::bench::AtWorkers(1);
  jackdaw::bench::AtWorkers(2);
}
