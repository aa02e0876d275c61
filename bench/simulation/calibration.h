// Calibration: finds, by measurement on this machine, what the simulated machine charges.
//
// Thread safety: one call at a time, on a machine with two idle CPUs.

#ifndef JACKDAW_BENCH_SIMULATION_CALIBRATION_H_
#define JACKDAW_BENCH_SIMULATION_CALIBRATION_H_

#include "bench/simulation/costs.h"

namespace jackdaw::bench {

// Takes about two seconds. None of it runs a pool.
[[nodiscard]] simulation::Costs Calibrate();

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SIMULATION_CALIBRATION_H_
