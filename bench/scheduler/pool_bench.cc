// The pool's parts, each beside a plain baseline in the same run: the deque and the pool
// beside a std::deque under a mutex, the wake-up beside a bare futex hand-over.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bench/support/compare.h"
#include "bench/support/hand_off.h"
#include "scheduler/pool/work_deque.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"
#include "scheduler/trace/timeline.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kTasks = 200'000;

// Does nothing. One object stands for all: the pool never looks into a task.
class Noop final : public Task {
 public:
  constexpr Noop() : Task([](Task*, Verb) noexcept {}) {}
};
Noop noop;

class CountedTask final : public Task {
 public:
  CountedTask() : Task(&CountedTask::Call) {}
  std::atomic<std::int64_t> ran{0};

 private:
  static void Call(Task* task, Verb) noexcept {
    auto& ran = static_cast<CountedTask*>(task)->ran;
    ran.fetch_add(1, std::memory_order_relaxed);
  }
};

// The baseline: one queue, one lock.
class LockedQueue {
 public:
  void Push(Task* task) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(task);
    }
    not_empty_.notify_one();
  }
  Task* PopNewest() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (queue_.empty()) return nullptr;
    Task* task = queue_.back();
    queue_.pop_back();
    return task;
  }
  Task* WaitOldest() {
    std::unique_lock<std::mutex> lock(mutex_);
    not_empty_.wait(lock, [this] { return !queue_.empty(); });
    Task* task = queue_.front();
    queue_.pop_front();
    return task;
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::deque<Task*> queue_;
};

double NanosEach(double begin, double end) { return (end - begin) * 1e9 / kTasks; }

// Bursts of 100, as a task that spawns a few would make them.
double LockedPushPop() {
  LockedQueue queue;
  const double begin = Now();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) queue.Push(&noop);
    while (Task* task = queue.PopNewest()) task->Run();
  }
  return NanosEach(begin, Now());
}

double DequePushPop() {
  WorkDeque deque;
  const double begin = Now();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) (void)deque.PushBottom(&noop);
    while (Task* task = deque.PopBottom()) task->Run();
  }
  return NanosEach(begin, Now());
}

double PoolSpawnRun(int workers, TraceSink* trace = nullptr) {
  WorkStealingPool pool({.workers = workers, .trace = trace});
  std::atomic<int> bursts{0};
  const double begin = Now();
  struct Burst {
    static void Run(std::atomic<int>& bursts) {
      for (int i = 0; i < 99; ++i) WorkerContext::Current()->Push(&noop);
      if (bursts.fetch_add(1) + 1 == kTasks / 100) return;
      WorkerContext::Current()->Push(MakeTask([&bursts] { Run(bursts); }));
    }
  };
  (void)pool.Run([&] { Burst::Run(bursts); });
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  return NanosEach(begin, Now());
}

double LockedSubmit() {
  LockedQueue queue;
  CountedTask task;
  std::thread consumer([&] {
    for (int i = 0; i < kTasks; ++i) queue.WaitOldest()->Run();
  });
  const double begin = Now();
  for (int i = 0; i < kTasks; ++i) queue.Push(&task);
  consumer.join();
  return NanosEach(begin, Now());
}

double PoolSubmit(int workers) {
  WorkStealingPool pool({.workers = workers});
  CountedTask task;
  const double begin = Now();
  for (int i = 0; i < kTasks; ++i) (void)pool.Submit(&task);
  while (task.ran.load() != kTasks) sched_yield();
  return NanosEach(begin, Now());
}

double PoolClosures(int workers) {
  WorkStealingPool pool({.workers = workers});
  std::atomic<int> ran{0};
  const double begin = Now();
  for (int i = 0; i < kTasks; ++i) (void)pool.Run([&] { ran.fetch_add(1); });
  while (ran.load() != kTasks) sched_yield();
  return NanosEach(begin, Now());
}

// Rounds of work on shards that stay the same, and that fit, a worker's share of them, into the
// cache that it has for itself: each task adds one to every number of its shard, and the last one
// of a round pushes the next round. Microseconds a task. `wish`: each for the worker that had the
// shard before.
class Shards {
 public:
  static constexpr int kShards = 16;
  static constexpr std::size_t kBytes = 48 * 1024;  // Of one; of a worker's eight 384 KiB.
  static constexpr int kRepeats = 1000;

  Shards() : shards_(kShards, std::vector<std::uint64_t>(kBytes / sizeof(std::uint64_t))) {}

  double Measure(bool wish) {
    WorkStealingPool pool({.workers = 2});
    repeats_ = 0;
    const double begin = Now();
    (void)pool.Run([&] { Push(pool, wish); });
    pool.ShutdownAndWait(ShutdownMode::kDrain);
    return (Now() - begin) * 1e6 / (kRepeats * kShards);
  }

  // Of all tasks that wished, how many ran where they wished, in percent.
  [[nodiscard]] double MetPercent() const {
    return 100.0 * static_cast<double>(met_.load()) / static_cast<double>(wished_.load());
  }

 private:
  void Push(WorkStealingPool& pool, bool wish) {
    left_.store(kShards);
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      auto add = [this, &pool, shard, wish] { Add(pool, shard, wish); };
      (void)(wish ? pool.RunOn(static_cast<int>(shard % 2), std::move(add))
                  : pool.Run(std::move(add)));
    }
  }

  void Add(WorkStealingPool& pool, std::size_t shard, bool wish) {
    for (std::uint64_t& number : shards_[shard]) ++number;
    if (wish) {
      wished_.fetch_add(1, std::memory_order_relaxed);
      const bool met = WorkerContext::Current()->index() == static_cast<int>(shard % 2);
      if (met) met_.fetch_add(1, std::memory_order_relaxed);
    }
    if (left_.fetch_sub(1) == 1 && ++repeats_ < kRepeats) Push(pool, wish);
  }

  std::vector<std::vector<std::uint64_t>> shards_;
  std::atomic<int> left_{0};
  int repeats_ = 0;  // Written by the last task of a round.
  std::atomic<std::int64_t> wished_{0};
  std::atomic<std::int64_t> met_{0};
};

// From Submit() to the task's first instruction, the pool parked: the median, microseconds.
double PoolWake() {
  WorkStealingPool pool({.workers = 2});
  std::vector<double> waits;
  for (int i = 0; i < 2000; ++i) {
    while (pool.stats().parked != 2) sched_yield();
    std::atomic<double> started{0};
    const double begin = Now();
    (void)pool.Run([&] { started.store(Now()); });
    while (started.load() == 0) sched_yield();
    waits.push_back((started.load() - begin) * 1e6);
  }
  std::nth_element(waits.begin(), waits.begin() + 1000, waits.end());
  return waits[1000];
}

double CpuMillis() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto millis = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return millis(usage.ru_utime) + millis(usage.ru_stime);
}

void Idle() {
  WorkStealingPool pool({.workers = 8});
  while (pool.stats().parked != 8) sched_yield();
  const double begin = CpuMillis();
  absl::SleepFor(absl::Seconds(5));
  std::printf("\nidle pool of 8 workers, 5 seconds: %.2f ms of CPU\n", CpuMillis() - begin);
}

void Main() {
  Compare local("an empty local task: push, pop and run on one thread", "ns a task");
  local.Add("std::deque, mutex", LockedPushPop);
  local.Add("WorkDeque", DequePushPop);
  local.Add("pool, 1 worker", [] { return PoolSpawnRun(1); });
  local.Add("pool, 2 workers", [] { return PoolSpawnRun(2); });
  local.Run(kRounds);

  Compare submit("an empty task from outside: submit and run", "ns a task");
  submit.Add("std::deque, mutex, condition variable", LockedSubmit);
  submit.Add("pool, 1 worker", [] { return PoolSubmit(1); });
  submit.Add("pool, 2 workers", [] { return PoolSubmit(2); });
  submit.Add("pool, 1 worker, closures on the heap", [] { return PoolClosures(1); });
  submit.Add("pool, 2 workers, closures on the heap", [] { return PoolClosures(2); });
  submit.Run(kRounds);

  Compare trace("an empty local task, and what it costs to be told of it", "ns a task");
  trace.Add("pool, 1 worker", [] { return PoolSpawnRun(1); });
  trace.Add("the same, a timeline", [] {
    Timeline timeline({});
    return PoolSpawnRun(1, &timeline);
  });
  trace.Run(kRounds);

  Shards shards;
  Compare wish("a task that adds to the 48 KiB of its shard, 16 shards, 2 workers", "microseconds");
  wish.Add("pushed", [&] { return shards.Measure(false); });
  wish.Add("with a wish for the worker of the shard", [&] { return shards.Measure(true); });
  wish.Run(kRounds);
  std::printf("wishes met: %.0f percent\n\n", shards.MetPercent());

  Compare wake("from a submit to a parked worker's first instruction", "microseconds");
  wake.Add("bare futex hand-over", [] { return HandOffMicros(2000); });
  wake.Add("pool, 2 workers", PoolWake);
  wake.Run(kRounds);

  Idle();
}

}  // namespace
}  // namespace jackdaw::bench

int main() { jackdaw::bench::Main(); }
