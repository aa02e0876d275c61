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
#include <vector>

#include "absl/time/clock.h"
#include "bench/support/compare.h"
#include "bench/support/hand_off.h"
#include "scheduler/pool/work_deque.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"

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

double PoolSpawnRun(int workers) {
  WorkStealingPool pool({.workers = workers});
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

  Compare wake("from a submit to a parked worker's first instruction", "microseconds");
  wake.Add("bare futex hand-over", [] { return HandOffMicros(2000); });
  wake.Add("pool, 2 workers", PoolWake);
  wake.Run(kRounds);

  Idle();
}

}  // namespace
}  // namespace jackdaw::bench

int main() { jackdaw::bench::Main(); }
