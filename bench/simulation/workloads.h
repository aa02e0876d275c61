// The workloads, in one source that is compiled twice: for the real pool and for the simulated
// machine (see substitute.h). Everything is of the machine that it is compiled for.
//
// Thread safety: one call at a time.

#ifndef JACKDAW_BENCH_SIMULATION_WORKLOADS_H_
#define JACKDAW_BENCH_SIMULATION_WORKLOADS_H_

#include "bench/simulation/outcome.h"

namespace jackdaw::bench {

// Runs `setup` on a pool of its own, and returns the round of the median time.
[[nodiscard]] Outcome RunPool(const Setup& setup);

// What an empty task takes on a pool of one worker, pushed by a task of it in bursts of 100, in
// nanoseconds.
[[nodiscard]] double EmptyTaskNanos();

// Keeps the calling thread busy for `ns`.
void Compute(double ns);

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SIMULATION_WORKLOADS_H_
