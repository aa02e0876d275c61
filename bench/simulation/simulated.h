// What the plain sources see of those that are compiled for the simulated machine.
//
// Thread safety: on a running Machine only.

#ifndef JACKDAW_BENCH_SIMULATION_SIMULATED_H_
#define JACKDAW_BENCH_SIMULATION_SIMULATED_H_

#include "bench/simulation/outcome.h"

// As their namesakes in workloads.h.
namespace jackdaw_simulated::bench {

[[nodiscard]] jackdaw::bench::Outcome RunPool(const jackdaw::bench::Setup& setup);
[[nodiscard]] double EmptyTaskNanos();

}  // namespace jackdaw_simulated::bench

#endif  // JACKDAW_BENCH_SIMULATION_SIMULATED_H_
