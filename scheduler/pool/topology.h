// Topology: the memory nodes (NUMA) of a machine, their CPUs, and how far apart they are.
//
// Thread safety: immutable; any thread.
//
// Errors: INTERNAL with hwloc's reason where the machine cannot be read, INVALID_ARGUMENT for
// a description that hwloc does not take.

#ifndef JACKDAW_SCHEDULER_POOL_TOPOLOGY_H_
#define JACKDAW_SCHEDULER_POOL_TOPOLOGY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace jackdaw {

class Topology {
 public:
  // The distance of a node to itself; twice as much is twice as far (ACPI's SLIT).
  static constexpr int kLocalDistance = 10;

  // This machine, cut to the CPUs that the process may use. Takes some milliseconds.
  [[nodiscard]] static absl::StatusOr<Topology> System();

  // A machine that does not exist, for tests: hwloc's synthetic description, such as
  // "package:2 node:4 pu:2".
  [[nodiscard]] static absl::StatusOr<Topology> Synthetic(const std::string& description);

  [[nodiscard]] int node_count() const { return static_cast<int>(cpus_.size()); }

  // The usable CPUs of `node`, as the system numbers them; at least one. 0 <= node < node_count().
  [[nodiscard]] absl::Span<const int> cpus(int node) const;

  // How far memory of `to` is from a CPU of `from`: at least kLocalDistance. As the firmware
  // says; where it says nothing, by how far up the tree the two meet.
  [[nodiscard]] int distance(int from, int to) const;

  // The node of each of `workers` workers, neighbours together: every node gets its share of
  // them by its CPUs.
  [[nodiscard]] std::vector<int> Place(int workers) const;

 private:
  Topology() = default;
  friend class TopologyReader;

  std::vector<std::vector<int>> cpus_;       // By node.
  std::vector<std::vector<int>> distances_;  // From, to.
};

// Keeps the calling thread on `cpus`. False where the system refuses, as when a CPU has been
// taken away since; the thread then runs where it may.
bool BindThisThread(absl::Span<const int> cpus);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_TOPOLOGY_H_
