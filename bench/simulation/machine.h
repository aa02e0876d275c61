// Machine: a computer that does not exist, with as many cores as one likes. Each simulated
// thread has a core, a stack and a clock of its own; all of them run on one real thread, one at
// a time. Before a thread does what another could notice, every thread whose clock is behind
// goes first. So what happens is what would happen if each step took exactly its cost, and the
// same program with the same costs always does the same.
//
// What has a cost
//   An access to shared memory   access_ns; locked_ns more where a core must wait for it; and
//                                cross_core_ns times the distance where another core has the
//                                line (see Line).
//   Sleeping and waking          syscall_ns, wake_call_ns for who wakes, wake_latency_ns until
//                                who slept goes on.
//   Everything else              what Charge() says; plain code between two accesses is part of
//                                access_ns.
//
// What is not modelled: caches that fill up, the bandwidth between cores, a core that two threads
// share, stores that become visible late (memory is sequentially consistent).
//
// Thread safety: none, it is one thread. At most one machine runs at a time.
//
// Errors: a program in which nobody can go on ends the process with a message: a wake-up was lost.

#ifndef JACKDAW_BENCH_SIMULATION_MACHINE_H_
#define JACKDAW_BENCH_SIMULATION_MACHINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "absl/types/span.h"
#include "bench/simulation/costs.h"

namespace jackdaw::simulation {

class Machine {
 public:
  static constexpr int kMaxThreads = 320;

  struct Options {
    Costs costs;
    // How much farther than the nearest a core's thread is from another's, as a factor.
    std::function<double(int from, int to)> distance = nullptr;
    // Memory that each thread has a copy of: what a program calls thread_local.
    absl::Span<char> thread_locals = {};
  };

  explicit Machine(Options options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // The machine that runs, or null: then nothing has a cost.
  [[nodiscard]] static Machine* Current() { return current_machine; }

  // Runs `body` as thread 0, and what it starts, until all have ended. Once.
  void Run(std::function<void()> body);

  // ---- for the threads that run on it ----

  [[nodiscard]] const Costs& costs() const { return options_.costs; }
  [[nodiscard]] int self() const { return self_; }
  [[nodiscard]] double now_ns() const { return now_ns_; }

  // The calling thread works for `ns` by itself.
  void Charge(double ns) { now_ns_ += ns; }
  // What the calling thread waits for is there at `at_ns` at the earliest.
  void WaitUntil(double at_ns) {
    if (at_ns > now_ns_) now_ns_ = at_ns;
  }
  // The cost of getting what the core of `from` has; -1 is nobody.
  [[nodiscard]] double CrossCore(int from) const;

  // Lets all threads that are behind the calling one go first.
  void Order() {
    if (!ready_.empty() && ready_.top().at_ns < now_ns_) Requeue();
  }

  // Starts a thread and returns its number.
  int Start(std::function<void()> body);
  // Waits for the end of `thread`.
  void Join(int thread);

  // Suspends the calling thread until another calls Resume() for it.
  void Block();
  // Lets the blocked `thread` go on at `at_ns`, or later if its own clock is ahead.
  void Resume(int thread, double at_ns);

  // Sleeps on `word` until a Wake(), as a futex does; who calls has just seen that it should.
  void Sleep(const void* word);
  // Wakes the thread that has slept on `word` the longest, if there is one.
  void Wake(const void* word);

 private:
  struct Thread;
  struct Turn {
    double at_ns;
    int thread;
    // For a queue whose top is the least.
    bool operator<(const Turn& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : thread > other.thread;
    }
  };

  static void Main();
  void End();
  void Requeue();
  void SwitchToNext();
  void SwitchTo(Thread& to);
  [[nodiscard]] Thread& Of(int thread) { return *threads_[static_cast<std::size_t>(thread)]; }

  static Machine* current_machine;

  const Options options_;
  const std::vector<char> first_locals_;  // What a new thread's locals hold.
  std::vector<std::unique_ptr<Thread>> threads_;
  const std::unique_ptr<Thread> host_;  // Who called Run().
  Thread* running_;
  std::priority_queue<Turn> ready_;
  std::map<const void*, std::deque<int>> sleepers_;
  // Of the running thread.
  int self_ = -1;
  double now_ns_ = 0;
};

}  // namespace jackdaw::simulation

#endif  // JACKDAW_BENCH_SIMULATION_MACHINE_H_
