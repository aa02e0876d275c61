// Simulation: threads of which one runs at a time, in an order drawn from a seed. At each step
// (an operation on an atomic, a mutex, a sleep) another thread may go on instead. So a whole
// pool runs under schedules that the machine would take years to meet, and the seed of one that
// fails brings it back, step by step.
//
// The order: each thread has a priority, drawn at its start; the highest that can run does; now
// and then, at random, the running one drops below all others. How often is drawn too: from
// every fourth step to hardly ever. After Burckhardt, Kothari, Musuvathi and
// Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs",
// ASPLOS 2010.
//
// Sees: deadlock, when no thread can go on, among it every lost wake-up; livelock, by a limit
// of steps; what the simulated code checks itself. Does not see: weak memory, for each step is
// sequentially consistent (the Relacy models have the orders), and races on plain memory.
//
// Thread safety: Run() one at a time; everything else on simulated threads only, where it has
// no effect outside of a simulation.

#ifndef JACKDAW_TESTS_MODEL_SIMULATION_H_
#define JACKDAW_TESTS_MODEL_SIMULATION_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "scheduler/base/random.h"

namespace jackdaw {

class Simulation : public std::enable_shared_from_this<Simulation> {
 public:
  struct Outcome {
    std::string failure;            // Empty: all threads ended.
    std::int64_t steps = 0;         // Taken.
    std::uint64_t fingerprint = 0;  // Of the order; equal for equal seeds and code.
  };

  // Runs `body` as the first thread, and those that it makes, to the end of all. After a
  // failure the threads stay where they are, and so does what they hold.
  static Outcome Run(std::uint64_t seed, std::function<void()> body);

  // A place where another thread may go on.
  static void Step();
  // The same, and all who can go on do so first.
  static void Yield();
  // Until another thread calls Wake(`what`). `as` is for the report of a deadlock.
  static void Wait(const void* what, const char* as);
  static void Wake(const void* what);
  // Starts a thread and returns its number.
  static int Spawn(std::function<void()> body);
  static void Join(int thread);
  // Ends the simulation; does not return.
  [[noreturn]] static void Fail(const std::string& what);
  static void Require(bool condition, const char* what) {
    if (!condition) Fail(what);
  }
  // Grows by one at each step.
  static std::int64_t now();

 private:
  static constexpr std::int64_t kMostSteps = 200'000;

  struct Thread {
    int number;
    std::int64_t priority;
    const void* waits_for = nullptr;
    const char* waits_as = "";
    bool ended = false;
    std::condition_variable turn;
  };

  explicit Simulation(std::uint64_t seed);
  int Start(std::function<void()> body);
  void Main(Thread& self, const std::function<void()>& body);
  void CountStep(Thread& self);
  void WakeAll(const void* what);
  [[nodiscard]] Thread* Next() const;
  void GoOn(Thread& self);
  [[noreturn]] void Stop(std::string failure);
  [[nodiscard]] std::string Deadlock() const;

  static thread_local Simulation* current_;
  static thread_local Thread* self_;

  // Touched by the running thread only, but for what the lock hands over.
  Random random_;
  std::uint64_t period_;  // Steps between two drops of a priority, on average.
  std::int64_t lowest_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
  Outcome outcome_;
  // The baton. No annotations: std::mutex has none.
  std::mutex mutex_;
  Thread* running_ = nullptr;
  bool over_ = false;
  std::condition_variable end_;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_MODEL_SIMULATION_H_
