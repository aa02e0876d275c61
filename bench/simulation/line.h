// Line: the cache line of one simulated atomic, and what an access to it costs the core that
// makes it: who has a copy, who wrote last, and until when it is on its way.
//
// The model is that of the MESI protocols. Any number of cores hold copies to read; who writes
// takes the line from all others first. Takings of one line follow each other, so a word that
// many cores write is as slow as it should be. A store that need not be seen at once costs the
// core nothing more: the line comes while it goes on.
//
// Invariant: where `owner_` is a core, it is the only holder.
//
// Thread safety: as Machine. Outside of a running machine nothing has a cost.

#ifndef JACKDAW_BENCH_SIMULATION_LINE_H_
#define JACKDAW_BENCH_SIMULATION_LINE_H_

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstdint>

#include "bench/simulation/machine.h"

namespace jackdaw::simulation {

class Line {
 public:
  constexpr Line() = default;

  // Each returns when the access may be made: what is at most relaxed may be seen out of turn.
  void Read(std::memory_order order) {
    Machine* machine = Machine::Current();
    if (machine == nullptr) return;
    if (order != std::memory_order_relaxed) machine->Order();
    machine->Charge(machine->costs().access_ns);
    const auto self = static_cast<std::size_t>(machine->self());
    if (holders_.test(self)) return;
    if (holders_.any()) {
      machine->WaitUntil(free_at_ns_);
      machine->Charge(machine->CrossCore(writer_));
      owner_ = kNobody;
    }
    holders_.set(self);
  }

  void Store(std::memory_order order) {
    Machine* machine = Machine::Current();
    if (machine == nullptr) return;
    if (order != std::memory_order_relaxed) machine->Order();
    Take(*machine, order == std::memory_order_seq_cst);
  }

  void Modify() {
    Machine* machine = Machine::Current();
    if (machine == nullptr) return;
    machine->Order();
    Take(*machine, true);
  }

 private:
  static constexpr std::int16_t kNobody = -1;

  // `waits`: the core goes on only when it has the line.
  void Take(Machine& machine, bool waits) {
    machine.Charge(machine.costs().access_ns + (waits ? machine.costs().locked_ns : 0));
    const auto self = static_cast<std::int16_t>(machine.self());
    if (owner_ == self) {
      if (waits) machine.WaitUntil(free_at_ns_);
      return;
    }
    if (holders_.any()) {
      const double begin_ns = std::max(machine.now_ns(), free_at_ns_);
      free_at_ns_ = begin_ns + machine.CrossCore(writer_);
      if (waits) machine.WaitUntil(free_at_ns_);
    }
    holders_.reset();
    holders_.set(static_cast<std::size_t>(self));
    owner_ = writer_ = self;
  }

  std::bitset<Machine::kMaxThreads> holders_;
  double free_at_ns_ = 0;
  std::int16_t owner_ = kNobody;
  std::int16_t writer_ = kNobody;
};

}  // namespace jackdaw::simulation

#endif  // JACKDAW_BENCH_SIMULATION_LINE_H_
