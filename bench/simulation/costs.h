// Costs: what the steps of a simulated machine take, in nanoseconds.

#ifndef JACKDAW_BENCH_SIMULATION_COSTS_H_
#define JACKDAW_BENCH_SIMULATION_COSTS_H_

namespace jackdaw::simulation {

// The defaults are what calibration.h found on the development machine, two virtual cores.
struct Costs {
  double access_ns = 0.35;          // An access to an atomic, with the plain code around it.
  double locked_ns = 2.1;           // More for a read-modify-write or a seq_cst store.
  double cross_core_ns = 86;        // A line from another core, or taking it from all others.
  double pause_ns = 25;             // The processor's pause instruction.
  double clock_ns = 25;             // Reading the clock.
  double syscall_ns = 240;          // A futex call that finds nothing to do.
  double wake_call_ns = 8'000;      // A futex call that wakes somebody, for who calls.
  double wake_latency_ns = 20'000;  // From that call to the sleeper's first instruction.
};

}  // namespace jackdaw::simulation

#endif  // JACKDAW_BENCH_SIMULATION_COSTS_H_
