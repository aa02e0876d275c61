// The two deques of the pool beside a std::deque under a mutex, and what the third way, an
// asymmetric fence, would cost a thief. The owner does after each push and pop what a worker does:
// it looks whether a thief has asked.

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "bench/support/compare.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/pool/split_deque.h"
#include "scheduler/pool/work_deque.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 31;
constexpr int kTasks = 200'000;

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

double NanosEach(int count, double begin) { return (Now() - begin) * 1e9 / count; }

// As a task that spawns a hundred.
template <typename D>
double Bursts() {
  D deque;
  const double begin = Now();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) Push(deque);
    while (Pop(deque)) {
    }
  }
  return NanosEach(kTasks, begin);
}

// As a fork and its join, with twenty older forks below.
template <typename D>
double Forks() {
  D deque;
  for (int i = 0; i < 20; ++i) Push(deque);
  const double begin = Now();
  for (int i = 0; i < kTasks; ++i) {
    Push(deque);
    (void)Pop(deque);
  }
  return NanosEach(kTasks, begin);
}

// All that is pushed is shared at once, as while other workers are idle, and taken back.
template <typename D>
double SharedBursts() {
  D deque;
  const double begin = Now();
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) {
      (void)deque.PushBottom(&noop);
      (void)deque.ShareAll();
    }
    while (Pop(deque)) {
    }
  }
  return NanosEach(kTasks, begin);
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
  const double each = NanosEach(kTasks, begin);
  stop.store(true);
  thief.join();
  return each;
}

// Taking all there is from the top, with nobody against it.
template <typename D>
double Steals() {
  D deque;
  double spent = 0;
  for (int burst = 0; burst < kTasks / 100; ++burst) {
    for (int i = 0; i < 100; ++i) (void)deque.PushBottom(&noop);
    (void)deque.ShareAll();
    const double begin = Now();
    while (deque.StealTop().task != nullptr) {
    }
    spent += Now() - begin;
  }
  return spent * 1e9 / kTasks;
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
  const double each = NanosEach(kBarriers, begin);
  stop.store(true);
  owner.join();
  return each;
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
}

}  // namespace
}  // namespace jackdaw::bench

int main() { jackdaw::bench::Main(); }
