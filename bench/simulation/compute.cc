#include <algorithm>
#include <cstdint>

#include "bench/simulation/workloads.h"
#include "bench/support/compare.h"

namespace jackdaw::bench {
namespace {

// Steps that wait for each other, so that neighbours on the same core hardly slow them.
void Steps(std::int64_t count) {
  std::uint64_t state = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(state));
  }
}

// The best of some tries: what disturbs only makes it slower.
double MeasureStepsPerNano() {
  constexpr std::int64_t kSteps = 1'000'000;
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const double begin = Now();
    Steps(kSteps);
    best = std::max(best, static_cast<double>(kSteps) / ((Now() - begin) * 1e9));
  }
  return best;
}

}  // namespace

void Compute(double ns) {
  static const double steps_per_nano = MeasureStepsPerNano();
  Steps(static_cast<std::int64_t>(ns * steps_per_nano));
}

}  // namespace jackdaw::bench
