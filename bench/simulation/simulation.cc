// The pool past this machine: the same workloads on the real pool and on a simulated machine
// (machine.h), which must agree at 1 and 2 workers, and then on simulated machines of 8, 64 and
// 256 cores, which can only be believed as far as that. See docs/simulation.md.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/simulation/calibration.h"
#include "bench/simulation/machine.h"
#include "bench/simulation/simulated.h"
#include "bench/simulation/stand_ins.h"
#include "bench/simulation/workloads.h"
#include "bench/support/compare.h"
#include "bench/support/series.h"
#include "scheduler/pool/topology.h"

namespace jackdaw::bench {
namespace {

using simulation::Costs;
using simulation::Machine;

constexpr double kAgreement = 0.25;  // How far a simulated time may be from the measured one.

constexpr int kMostLogWorkers = 8;

struct Workload {
  const char* name;
  Setup small;             // For one or two workers.
  int log_tasks_a_worker;  // For many.
  double compute_ns;       // The same.
};

const std::vector<Workload>& Workloads() {
  static const auto* const all = new std::vector<Workload>{
      {"fork-join tree", {0, Shape::kForkJoin, 12, 1'000, 9}, 8, 10'000},
      {"fan-out from one task", {0, Shape::kFanOut, 9, 10'000, 9}, 6, 10'000},
      {"tree of empty tasks", {0, Shape::kSpawnTree, 13, 0, 99}, 11, 1'000},
  };
  return *all;
}

// The cost of a line from another core, as a factor: 1 within a memory node, half as much again
// within a package, twice as much from another. hwloc gives the order, not the size. Worker i runs
// on thread i + 1; thread 0 submits.
std::function<double(int, int)> Distances(const Topology& topology, int workers) {
  const std::vector<int> nodes = topology.Place(workers);
  return [&topology, nodes](int from, int to) {
    if (from == 0 || to == 0) return 1.0;
    const auto node = [&nodes](int thread) { return nodes[static_cast<std::size_t>(thread - 1)]; };
    const int distance = topology.distance(node(from), node(to));
    if (distance == Topology::kLocalDistance) return 1.0;
    return distance == topology.distance(0, 1) ? 1.5 : 2.0;
  };
}

using Pool = Outcome(const Setup& setup);

// `pool` is the RunPool() of one of the namespaces of simulated.h.
Outcome Simulate(Pool& pool, const Setup& setup, const Costs& costs, const Topology* topology) {
  Outcome outcome = {};
  Machine machine({.costs = costs,
                   .distance = topology == nullptr ? nullptr : Distances(*topology, setup.workers),
                   .thread_locals = simulation::ThreadLocals()});
  machine.Run([&] { outcome = pool(setup); });
  return outcome;
}

void PrintCosts(const Costs& costs) {
  std::printf(
      "  costs, in ns: access %.2f, locked %.2f, pause %.1f, clock %.1f, futex call %.0f,\n  line "
      "from another core %.0f, waking %.0f for the waker, %.0f for the woken\n\n",
      costs.access_ns, costs.locked_ns, costs.pause_ns, costs.clock_ns, costs.syscall_ns,
      costs.cross_core_ns, costs.wake_call_ns, costs.wake_latency_ns);
}

// Says which comparisons are off. Not an error: what it means is for people to judge.
void Validate() {
  constexpr int kRounds = 7;
  std::vector<std::string> off;
  for (const Workload& workload : Workloads()) {
    for (const int workers : {1, 2}) {
      Setup setup = workload.small;
      setup.workers = workers;
      Costs costs;
      Compare compare(absl::StrCat(workload.name, ", workers: ", workers), "microseconds");
      compare.Add("measured", [&] { return RunPool(setup).elapsed_ns / 1e3; });
      // Calibrated each time: what the machine costs changes with what else runs on it.
      compare.Add("simulated", [&] {
        costs = Calibrate();
        return Simulate(jackdaw_simulated::bench::RunPool, setup, costs, nullptr).elapsed_ns / 1e3;
      });
      compare.Run(kRounds);
      PrintCosts(costs);
      const double ratio = compare.Median(1) / compare.Median(0);
      if (ratio < 1 - kAgreement || ratio > 1 + kAgreement) {
        off.push_back(absl::StrCat(workload.name, ", workers: ", workers, ", ratio: ", ratio));
      }
    }
  }
  std::printf("%zu of %zu simulated times are within %.0f percent of the measured ones\n",
              2 * Workloads().size() - off.size(), 2 * Workloads().size(), kAgreement * 100);
  for (const std::string& one : off) std::printf("  NOT WITHIN: %s\n", one.c_str());
}

struct Variant {
  const char* name;
  double cross_core_ns;
  Pool& pool;
};

// A machine of `workers` cores: sixteen to a memory node, four nodes to a package.
Topology MachineOf(int workers) {
  constexpr int kCoresANode = 16;
  constexpr int kNodesAPackage = 4;
  const int nodes = std::max(1, workers / kCoresANode);
  const int packages = std::max(1, nodes / kNodesAPackage);
  return *Topology::Synthetic(
      absl::StrCat("package:", packages, " node:", nodes / packages, " pu:", workers / nodes));
}

void PrintRow(const Setup& setup, double efficiency, const Outcome& outcome) {
  const auto each = [&outcome](std::int64_t count) {
    return 1e3 * static_cast<double>(count) / static_cast<double>(outcome.tasks);
  };
  std::printf("  %7d %10.2f %8.1f %9.1f %8.1f %8.1f %8.1f %8d %10.0f\n", setup.workers, efficiency,
              each(outcome.steals), each(outcome.steals_empty), each(outcome.steals_lost),
              each(outcome.wakeups), each(outcome.parks), outcome.engaged,
              outcome.engaged_ns / 1e3);
  std::fflush(stdout);
}

// One line of a workload's plot, and its table.
void Scale(const Workload& workload, const Variant& variant, Series& series) {
  std::printf("\n%s, %.0f us each, %d a worker, %s\n", workload.name, workload.compute_ns / 1e3,
              1 << workload.log_tasks_a_worker, variant.name);
  std::printf("  %7s %10s %8s %9s %8s %8s %8s %8s %10s\n", "workers", "efficiency", "steals",
              "empty", "lost", "wakeups", "parks", "engaged", "us to that");
  series.Begin(variant.name);
  for (int log_workers = 0; log_workers <= kMostLogWorkers; ++log_workers) {
    const Setup setup = {.workers = 1 << log_workers,
                         .shape = workload.small.shape,
                         .log_tasks = workload.log_tasks_a_worker + log_workers,
                         .compute_ns = workload.compute_ns,
                         .rounds = 1};
    const Topology topology = MachineOf(setup.workers);
    const Costs costs = {.cross_core_ns = variant.cross_core_ns};
    const Outcome outcome = Simulate(variant.pool, setup, costs, &topology);
    const double work_ns = workload.compute_ns * (1 << workload.log_tasks_a_worker);
    const double efficiency = work_ns / outcome.elapsed_ns;
    series.Add(setup.workers, efficiency);
    PrintRow(setup, efficiency, outcome);
  }
}

void Main() {
  Validate();
  std::printf("\nsimulated; steals and so on are per thousand tasks\n");
  const Variant variants[] = {
      {"0.1 us across cores", 100, jackdaw_simulated::bench::RunPool},
      {"0.5 us across cores", 500, jackdaw_simulated::bench::RunPool},
      {"0.5 us, every push wakes", 500, jackdaw_simulated_eager::bench::RunPool},
  };
  for (const Workload& workload : Workloads()) {
    Series series(workload.name, "efficiency", "workers");
    for (const Variant& variant : variants) Scale(workload, variant, series);
    series.Record();
  }
}

}  // namespace
}  // namespace jackdaw::bench

int main() { jackdaw::bench::Main(); }
