#include "bench/simulation/calibration.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/simulation/machine.h"
#include "bench/simulation/simulated.h"
#include "bench/simulation/stand_ins.h"
#include "bench/simulation/workloads.h"
#include "bench/support/compare.h"
#include "scheduler/base/clock.h"

namespace jackdaw::bench {
namespace {

using simulation::Costs;
using simulation::Machine;

constexpr int kRounds = 9;  // Of which the median counts.
constexpr int kCalls = 100'000;

double Median(std::vector<double> figures) {
  const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
  std::nth_element(figures.begin(), middle, figures.end());
  return *middle;
}

// The median over the rounds of what one call of `step` takes, in nanoseconds.
template <typename Step>
double NanosOf(int calls, Step&& step) {
  std::vector<double> figures;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = Now();
    for (int i = 0; i < calls; ++i) step();
    figures.push_back((Now() - begin) * 1e9 / calls);
  }
  return Median(figures);
}

int FutexCall(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return static_cast<int>(syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation,
                                  value, nullptr, nullptr, 0));
}

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// A hop of a ball between two threads is two transfers: the writer takes the line from the
// reader, the reader fetches it.
double TransferNanos() {
  constexpr int kHops = 20'000;
  alignas(128) std::atomic<int> ball{0};
  std::vector<double> figures;
  for (int round = 0; round < kRounds; ++round) {
    ball.store(0);
    std::thread other([&ball] {
      for (int i = 1; i < kHops; i += 2) {
        while (ball.load(std::memory_order_acquire) != i) {
        }
        ball.store(i + 1);
      }
    });
    const double begin = Now();
    for (int i = 0; i < kHops; i += 2) {
      ball.store(i + 1);
      while (ball.load(std::memory_order_acquire) != i + 2) {
      }
    }
    figures.push_back((Now() - begin) * 1e9 / kHops / 2);
    other.join();
  }
  return Median(figures);
}

// Wakes a thread that has slept for a while, again and again: what the call takes, and how long
// after its beginning the sleeper runs.
void MeasureWakes(Costs& costs) {
  constexpr int kWakes = 500;
  constexpr double kAsleepSeconds = 100e-6;  // To be sure that it sleeps.
  std::atomic<std::uint32_t> word{0};
  std::atomic<double> woken_at{0};
  std::thread sleeper([&] {
    for (std::uint32_t i = 0; i < kWakes; ++i) {
      while (word.load() == i) FutexCall(word, FUTEX_WAIT_PRIVATE, i);
      woken_at.store(Now());
    }
  });
  std::vector<double> calls;
  std::vector<double> latencies;
  for (std::uint32_t i = 1; i <= kWakes; ++i) {
    const double waited_since = Now();
    while (Now() - waited_since < kAsleepSeconds) Pause();
    woken_at.store(0);
    const double begin = Now();
    word.store(i);
    FutexCall(word, FUTEX_WAKE_PRIVATE, 1);
    calls.push_back((Now() - begin) * 1e9);
    while (woken_at.load() == 0) Pause();
    latencies.push_back((woken_at.load() - begin) * 1e9);
  }
  sleeper.join();
  costs.wake_call_ns = Median(calls);
  costs.wake_latency_ns = Median(latencies);
}

// What an empty task takes on a machine of these costs.
double SimulatedEmptyTask(const Costs& costs) {
  double ns = 0;
  Machine machine({.costs = costs, .thread_locals = simulation::ThreadLocals()});
  machine.Run([&ns] { ns = jackdaw_simulated::bench::EmptyTaskNanos(); });
  return ns;
}

// How long an access must take for an empty task to take what it does.
double AccessNanos(double locked_ns) {
  std::vector<double> figures;
  for (int round = 0; round < kRounds; ++round) figures.push_back(EmptyTaskNanos());
  const double base = SimulatedEmptyTask({.access_ns = 0, .locked_ns = locked_ns});
  const double accesses = SimulatedEmptyTask({.access_ns = 1, .locked_ns = locked_ns}) - base;
  return std::max(0.1, (Median(figures) - base) / accesses);
}

}  // namespace

Costs Calibrate() {
  Costs costs;
  std::atomic<std::uint32_t> word{0};
  costs.locked_ns = NanosOf(kCalls, [&word] { word.fetch_add(1); });
  costs.access_ns = AccessNanos(costs.locked_ns);
  costs.pause_ns = NanosOf(kCalls, Pause);
  costs.clock_ns = NanosOf(kCalls, [] { (void)Clock::Real().MonotonicNanos(); });
  costs.syscall_ns = NanosOf(kCalls / 10, [&word] { FutexCall(word, FUTEX_WAKE_PRIVATE, 1); });
  costs.cross_core_ns = TransferNanos();
  MeasureWakes(costs);
  return costs;
}

}  // namespace jackdaw::bench
