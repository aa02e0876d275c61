#include "scheduler/pool/futex.h"
#include "tests/model/simulation.h"

namespace jackdaw {

void Futex::Wait(simulated::Atomic<std::uint32_t>& word, std::uint32_t expected) {
  if (word.load() == expected) Simulation::Wait(&word, "a futex");
}

void Futex::Wake(simulated::Atomic<std::uint32_t>& word) {
  Simulation::Step();
  Simulation::Wake(&word);
}

}  // namespace jackdaw
