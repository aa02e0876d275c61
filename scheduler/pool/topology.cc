#include "scheduler/pool/topology.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace jackdaw {

// Takes out of hwloc's tree what a Topology holds. Nodes without usable CPUs are left out.
class TopologyReader {
 public:
  static absl::StatusOr<Topology> Read(const std::string* synthetic) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return absl::InternalError("hwloc does not start");
    const std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> tree(raw,
                                                                           hwloc_topology_destroy);
    if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic->c_str()) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a description of a topology: \"", *synthetic, "\""));
    }
    if (hwloc_topology_load(raw) != 0) {
      return absl::InternalError(
          absl::StrCat("hwloc cannot read the topology: ", std::strerror(errno)));
    }
    return TopologyReader(raw).Take();
  }

 private:
  explicit TopologyReader(hwloc_topology_t tree) : tree_(tree) {}

  absl::StatusOr<Topology> Take() {
    Topology result;
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(tree_, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      std::vector<int> cpus;
      for (int cpu = -1; (cpu = hwloc_bitmap_next(node->cpuset, cpu)) != -1;) cpus.push_back(cpu);
      if (cpus.empty()) continue;
      result.cpus_.push_back(std::move(cpus));
      nodes_.push_back(node);
    }
    if (nodes_.empty()) return absl::InternalError("hwloc found no memory node with a CPU");
    for (hwloc_obj_t from : nodes_) {
      std::vector<int>& row = result.distances_.emplace_back();
      for (hwloc_obj_t to : nodes_) row.push_back(ByTree(from, to));
    }
    ReadFirmware(result);
    return result;
  }

  // Ten more for each level that one climbs to where the two meet.
  static int ByTree(hwloc_obj_t from, hwloc_obj_t to) {
    int distance = Topology::kLocalDistance;
    if (from == to) return distance;
    hwloc_obj_t a = from->parent;
    hwloc_obj_t b = to->parent;
    distance += Topology::kLocalDistance;
    for (; a != b; distance += Topology::kLocalDistance) {
      if (a->depth >= b->depth) {
        a = a->parent;
      } else {
        b = b->parent;
      }
    }
    return distance;
  }

  // Takes the firmware's table where there is one for all nodes.
  void ReadFirmware(Topology& result) const {
    unsigned count = 1;
    struct hwloc_distances_s* table = nullptr;
    const unsigned long kind = HWLOC_DISTANCES_KIND_MEANS_LATENCY;
    if (hwloc_distances_get_by_type(tree_, HWLOC_OBJ_NUMANODE, &count, &table, kind, 0) != 0 ||
        count == 0) {
      return;
    }
    for (std::size_t from = 0; from < nodes_.size(); ++from) {
      for (std::size_t to = 0; to < nodes_.size(); ++to) {
        hwloc_uint64_t out = 0;
        hwloc_uint64_t back = 0;
        if (hwloc_distances_obj_pair_values(table, nodes_[from], nodes_[to], &out, &back) == 0) {
          result.distances_[from][to] = std::max(
              Topology::kLocalDistance, static_cast<int>(std::min<hwloc_uint64_t>(out, 255)));
        }
      }
    }
    hwloc_distances_release(tree_, table);
  }

  const hwloc_topology_t tree_;
  std::vector<hwloc_obj_t> nodes_;
};

absl::StatusOr<Topology> Topology::System() { return TopologyReader::Read(nullptr); }

absl::StatusOr<Topology> Topology::Synthetic(const std::string& description) {
  return TopologyReader::Read(&description);
}

absl::Span<const int> Topology::cpus(int node) const {
  return cpus_[static_cast<std::size_t>(node)];
}

int Topology::distance(int from, int to) const {
  return distances_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

std::vector<int> Topology::Place(int workers) const {
  std::vector<int> node_of_cpu;
  for (int node = 0; node < node_count(); ++node) {
    node_of_cpu.insert(node_of_cpu.end(), cpus(node).size(), node);
  }
  std::vector<int> nodes;
  const auto count = static_cast<std::size_t>(std::max(0, workers));
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(node_of_cpu[i * node_of_cpu.size() / count]);
  }
  return nodes;
}

bool BindThisThread(absl::Span<const int> cpus) {
  const int highest = cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end());
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(static_cast<std::size_t>(highest) + 1), [](cpu_set_t* s) { CPU_FREE(s); });
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(highest) + 1);
  CPU_ZERO_S(bytes, set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  return pthread_setaffinity_np(pthread_self(), bytes, set.get()) == 0;
}

}  // namespace jackdaw
