// The two deques of the pool beside a std::deque under a mutex, and what the third way, an
// asymmetric fence, would cost a thief; at the end what a private part can cost a pool. The owner
// does after each push and pop what a worker does: it looks whether a thief has asked. What one
// thread does alone is measured in its CPU time, which other programs of the machine disturb less.

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/support/compare.h"
#include "scheduler/pool/split_deque.h"
#include "scheduler/pool/work_deque.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 31;
constexpr int kTasks = 200'000;
constexpr absl::Duration kNap = absl::Milliseconds(20);

// One object stands for all: a deque never looks into a task.
class Noop final : public Task {
 public:
  constexpr Noop() : Task([](Task*, Verb) noexcept {}) {}
};
Noop noop;

// The baseline, with the face of the others.
class LockedDeque {
 public:
  [[nodiscard]] bool PushBottom(Task* task) {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(task);
    return true;
  }
  [[nodiscard]] Task* PopBottom() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.empty()) return nullptr;
    Task* task = tasks_.back();
    tasks_.pop_back();
    return task;
  }
  [[nodiscard]] Steal StealTop() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.empty()) return {Steal::Outcome::kEmpty, nullptr};
    Task* task = tasks_.front();
    tasks_.pop_front();
    return {Steal::Outcome::kTaken, task};
  }
  [[nodiscard]] bool ShareIfAsked() { return false; }
  [[nodiscard]] bool ShareAll() { return false; }

 private:
  std::mutex mutex_;
  std::deque<Task*> tasks_;
};

template <typename D>
void Push(D& deque) {
  (void)deque.PushBottom(&noop);
  (void)deque.ShareIfAsked();
}

template <typename D>
bool Pop(D& deque) {
  Task* task = deque.PopBottom();
  (void)deque.ShareIfAsked();
  return task != nullptr;
}

// Seconds of CPU that the calling thread has had.
double CpuNow() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double NanosEach(int count, double seconds) { return seconds * 1e9 / count; }

// As a task that spawns a hundred.
template <typename D>
double Bursts() {
  D deque;
  const double begin = CpuNow();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) Push(deque);
    while (Pop(deque)) {
    }
  }
  return NanosEach(kTasks, CpuNow() - begin);
}

// As a fork and its join, with twenty older forks below.
template <typename D>
double Forks() {
  D deque;
  for (int i = 0; i < 20; ++i) Push(deque);
  const double begin = CpuNow();
  for (int i = 0; i < kTasks; ++i) {
    Push(deque);
    (void)Pop(deque);
  }
  return NanosEach(kTasks, CpuNow() - begin);
}

// All that is pushed is shared at once, as while other workers are idle, and taken back.
template <typename D>
double SharedBursts() {
  D deque;
  const double begin = CpuNow();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) {
      (void)deque.PushBottom(&noop);
      (void)deque.ShareAll();
    }
    while (Pop(deque)) {
    }
  }
  return NanosEach(kTasks, CpuNow() - begin);
}

// The bursts, with a thief that takes what it can get. Whoever takes a task does a little with
// it: the time until all are done.
template <typename D>
double BurstsWithThief() {
  D deque;
  std::atomic<bool> stop{false};
  std::atomic<bool> ready{false};
  std::thread thief([&] {
    ready.store(true);
    while (!stop.load(std::memory_order_relaxed)) {
      const Steal steal = deque.StealTop();
      if (steal.task != nullptr) steal.task->Run();
    }
  });
  while (!ready.load()) sched_yield();
  const double begin = Now();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) Push(deque);
    while (Pop(deque)) noop.Run();
  }
  const double each = NanosEach(kTasks, Now() - begin);
  stop.store(true);
  thief.join();
  return each;
}

// Taking all there is from the top, with nobody against it.
template <typename D>
double Steals() {
  constexpr int kDeep = 20'000;
  D deque;
  double spent = 0;
  for (int round = 0; round < kTasks / kDeep; ++round) {
    for (int i = 0; i < kDeep; ++i) (void)deque.PushBottom(&noop);
    (void)deque.ShareAll();
    const double begin = CpuNow();
    while (deque.StealTop().task != nullptr) {
    }
    spent += CpuNow() - begin;
  }
  return NanosEach(kTasks, spent);
}

// A barrier on every running thread of the process, with one that runs.
double Membarrier() {
  constexpr int kBarriers = 20'000;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return 0;
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  const double begin = Now();
  for (int i = 0; i < kBarriers; ++i) {
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  const double each = NanosEach(kBarriers, Now() - begin);
  stop.store(true);
  owner.join();
  return each;
}

// A task that takes its time without disturbing the machine.
class Nap final : public Task {
 public:
  explicit Nap(absl::Duration length) : Task(&Nap::Call), length_(length) {}
  void Take() {
    absl::SleepFor(length_);
    taken_.store(true);
  }
  [[nodiscard]] bool taken() const { return taken_.load(); }

 private:
  static void Call(Task* task, Verb) noexcept { static_cast<Nap*>(task)->Take(); }
  const absl::Duration length_;
  std::atomic<bool> taken_{false};
};

// One worker forks a short task and a long one while the other is busy, and is busy itself for as
// long as the long one; the other is free a moment later. Milliseconds until all is done.
double UnevenForks(void (WorkerContext::*push)(Task*)) {
  WorkStealingPool pool({.workers = 2});
  std::atomic<bool> other_is_busy{false};
  std::atomic<bool> forked{false};
  std::atomic<double> millis{0};
  (void)pool.Run([&] {
    other_is_busy.store(true);
    while (!forked.load()) sched_yield();
  });
  (void)pool.Run([&] {
    while (!other_is_busy.load()) sched_yield();
    WorkerContext& worker = *WorkerContext::Current();
    Nap brief(absl::Microseconds(1));
    Nap lengthy(kNap);
    const double begin = Now();
    (worker.*push)(&brief);
    (worker.*push)(&lengthy);
    forked.store(true);
    Nap(kNap).Take();
    if (worker.TakeBack(&lengthy)) lengthy.Take();
    if (worker.TakeBack(&brief)) brief.Take();
    while (!lengthy.taken() || !brief.taken()) sched_yield();
    millis.store((Now() - begin) * 1e3);
  });
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  return millis.load();
}

void CompareDeques(const std::string& title, double (*work)(), double (*split)(),
                   double (*locked)()) {
  Compare compare(title, "ns a task");
  compare.Add("WorkDeque", work);
  compare.Add("SplitDeque", split);
  compare.Add("std::deque, mutex", locked);
  compare.Run(kRounds);
}

void Main() {
  // A mutex costs less in a program of one thread, which no pool is.
  absl::Notification done;
  std::thread second([&] { done.WaitForNotification(); });

  CompareDeques("owner alone: a hundred pushes, a hundred pops", Bursts<WorkDeque>,
                Bursts<SplitDeque>, Bursts<LockedDeque>);
  CompareDeques("owner alone: a push and a pop, twenty older tasks below", Forks<WorkDeque>,
                Forks<SplitDeque>, Forks<LockedDeque>);
  CompareDeques("owner alone: a hundred pushes, each shared, a hundred pops",
                SharedBursts<WorkDeque>, SharedBursts<SplitDeque>, SharedBursts<LockedDeque>);
  CompareDeques("a hundred pushes, a hundred pops, against a thief", BurstsWithThief<WorkDeque>,
                BurstsWithThief<SplitDeque>, BurstsWithThief<LockedDeque>);

  Compare thief("a thief: take one task, nobody against it", "ns a task");
  thief.Add("WorkDeque", Steals<WorkDeque>);
  thief.Add("SplitDeque", Steals<SplitDeque>);
  thief.Add("std::deque, mutex", Steals<LockedDeque>);
  thief.Add("asymmetric fence: the barrier only", Membarrier);
  thief.Run(kRounds);

  Compare uneven("20 ms of work, and a fork of 20 ms made while the other worker was busy", "ms");
  uneven.Add("Push(): everybody sees it", [] { return UnevenForks(&WorkerContext::Push); });
  uneven.Add("PushFork()", [] { return UnevenForks(&WorkerContext::PushFork); });
  uneven.Run(kRounds);

  done.Notify();
  second.join();
}

}  // namespace
}  // namespace jackdaw::bench

int main() { jackdaw::bench::Main(); }
