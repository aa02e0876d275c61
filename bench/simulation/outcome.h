// What is asked of a pool, real or simulated, and what came of it.

#ifndef JACKDAW_BENCH_SIMULATION_OUTCOME_H_
#define JACKDAW_BENCH_SIMULATION_OUTCOME_H_

#include <cstdint>

namespace jackdaw::bench {

enum class Shape {
  kForkJoin,   // A binary tree of forks and joins; its leaves compute.
  kFanOut,     // One task pushes all the others.
  kSpawnTree,  // A binary tree of tasks, each of which computes and pushes its children.
};

struct Setup {
  int workers;
  Shape shape;
  int log_tasks;      // Leaves of the tree, tasks fanned out, tasks of the tree: 2 to this power.
  double compute_ns;  // What each of them computes.
  int rounds;         // Runs on one pool after one to warm up; the median counts.
  std::uint64_t seed = 1;
};

struct Outcome {
  double elapsed_ns;  // From the first instruction of the first task to the end of the last.
  double engaged_ns;  // From there to the first task of the worker that came last.
  int engaged;        // Workers that had a task.
  std::int64_t tasks;
  std::int64_t steals;
  std::int64_t steals_empty;
  std::int64_t steals_lost;
  std::int64_t wakeups;
  std::int64_t parks;
};

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SIMULATION_OUTCOME_H_
