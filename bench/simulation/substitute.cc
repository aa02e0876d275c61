// What the pool takes from elsewhere in the library, for the simulated machine. Compiled like the
// pool's sources, after substitute.h: `jackdaw` is the simulated one.

#include <cstdint>

#include "bench/simulation/workloads.h"
#include "scheduler/base/clock.h"
#include "scheduler/base/cpu_count.h"
#include "scheduler/pool/futex.h"

namespace jackdaw {
namespace {

class SimulatedClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::FromUnixNanos(MonotonicNanos()); }
  std::int64_t MonotonicNanos() const override {
    simulation::Machine* machine = simulation::Machine::Current();
    if (machine == nullptr) return 0;
    machine->Charge(machine->costs().clock_ns);
    machine->Order();
    return static_cast<std::int64_t>(machine->now_ns());
  }
};

}  // namespace

Clock& Clock::Real() {
  static SimulatedClock clock;
  return clock;
}

// Every thread has a core.
int EffectiveCpuCount() { return simulation::Machine::kMaxThreads; }

void Futex::Wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  if (word.load() == expected) simulation::Machine::Current()->Sleep(&word);
}

void Futex::Wake(std::atomic<std::uint32_t>& word) { simulation::Machine::Current()->Wake(&word); }

namespace bench {

void Compute(double ns) {
  simulation::Machine& machine = *simulation::Machine::Current();
  machine.Charge(ns);
  machine.Order();
}

}  // namespace bench
}  // namespace jackdaw
