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

// The pool whose every push wakes somebody, as long as somebody is parked.
namespace jackdaw_simulated_eager::bench {

[[nodiscard]] jackdaw::bench::Outcome RunPool(const jackdaw::bench::Setup& setup);

}  // namespace jackdaw_simulated_eager::bench

#endif  // JACKDAW_BENCH_SIMULATION_SIMULATED_H_
