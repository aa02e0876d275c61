#include "scheduler/graph/batch.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

// Where each task's dependencies begin; one entry more than there are tasks.
std::vector<std::size_t> Offsets(const TaskBatch& batch) {
  std::vector<std::size_t> begin(batch.size() + 1, 0);
  std::partial_sum(batch.dependency_count.begin(), batch.dependency_count.end(), begin.begin() + 1,
                   [](std::size_t sum, std::size_t count) { return sum + count; });
  return begin;
}

// The common case, cheap to see: every dependency in the batch points backwards.
bool PointsBackwards(const TaskBatch& batch) {
  std::size_t edge = 0;
  for (std::uint32_t task = 0; task < batch.size(); ++task) {
    for (std::uint32_t i = 0; i < batch.dependency_count[task]; ++i, ++edge) {
      const std::uint32_t dependency = batch.dependencies[edge];
      if ((dependency & TaskBatch::kInBatchBit) != 0 &&
          (dependency ^ TaskBatch::kInBatchBit) >= task) {
        return false;
      }
    }
  }
  return true;
}

absl::Status CheckColumns(const TaskBatch& batch) {
  const std::size_t tasks = batch.size();
  const auto wrong = [tasks](absl::string_view column, std::size_t found) {
    return absl::InvalidArgumentError(
        absl::StrCat(column, " has ", found, " entries for ", tasks, " tasks"));
  };
  if (batch.dependency_count.size() != tasks) {
    return wrong("dependency_count", batch.dependency_count.size());
  }
  if (!batch.payloads.empty() && batch.payloads.size() != tasks) {
    return wrong("payloads", batch.payloads.size());
  }
  if (!batch.ids.empty() && batch.ids.size() != tasks) return wrong("ids", batch.ids.size());
  const std::uint64_t edges = std::accumulate(batch.dependency_count.begin(),
                                              batch.dependency_count.end(), std::uint64_t{0});
  if (batch.dependencies.size() != edges) {
    return absl::InvalidArgumentError(absl::StrCat("dependencies has ", batch.dependencies.size(),
                                                   " entries, dependency_count sums to ", edges));
  }
  return absl::OkStatus();
}

absl::Status CheckKinds(const TaskBatch& batch) {
  for (std::size_t i = 0; i < batch.kinds.size(); ++i) {
    if (batch.kinds[i].action == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("kinds[", i, "] has no action"));
    }
    if (absl::Status status = Validate(batch.kinds[i].policy); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat("kinds[", i, "].", status.message()));
    }
  }
  const auto past = std::find_if(batch.kind.begin(), batch.kind.end(),
                                 [&](std::uint32_t kind) { return kind >= batch.kinds.size(); });
  if (past == batch.kind.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("kind[", past - batch.kind.begin(), "] is ", *past,
                                                 ", there are ", batch.kinds.size(), " kinds"));
}

absl::Status CheckDependencies(const TaskBatch& batch, std::size_t existing) {
  std::size_t edge = 0;
  for (std::uint32_t task = 0; task < batch.size(); ++task) {
    for (std::uint32_t i = 0; i < batch.dependency_count[task]; ++i, ++edge) {
      const std::uint32_t dependency = batch.dependencies[edge];
      const bool in_batch = (dependency & TaskBatch::kInBatchBit) != 0;
      const std::uint32_t index = dependency & ~TaskBatch::kInBatchBit;
      if (in_batch && index == task) {
        return absl::InvalidArgumentError(absl::StrCat("task ", task, " depends on itself"));
      }
      if (index >= (in_batch ? batch.size() : existing)) {
        return absl::InvalidArgumentError(
            absl::StrCat("dependency ", i, " of task ", task, " is ", index, ", there are ",
                         in_batch ? batch.size() : existing, " tasks"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::uint32_t> FindCycle(const TaskBatch& batch) {
  if (PointsBackwards(batch)) return {};
  // Depth-first along dependencies; a task on the path that is met again closes a cycle.
  enum Mark : std::uint8_t { kNew, kOnPath, kDone };
  const std::vector<std::size_t> begin = Offsets(batch);
  std::vector<std::uint8_t> mark(batch.size(), kNew);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  std::vector<std::uint32_t> path;
  for (std::uint32_t root = 0; root < batch.size(); ++root) {
    if (mark[root] != kNew) continue;
    path.push_back(root);
    mark[root] = kOnPath;
    while (!path.empty()) {
      const std::uint32_t task = path.back();
      if (next[task] == begin[task + 1]) {
        mark[task] = kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t dependency = batch.dependencies[next[task]++];
      if ((dependency & TaskBatch::kInBatchBit) == 0) continue;
      const std::uint32_t position = dependency ^ TaskBatch::kInBatchBit;
      if (mark[position] == kOnPath) {
        path.erase(path.begin(), std::find(path.begin(), path.end(), position));
        return path;
      }
      if (mark[position] == kNew) {
        mark[position] = kOnPath;
        path.push_back(position);
      }
    }
  }
  return {};
}

absl::Status Validate(const TaskBatch& batch, std::size_t existing) {
  if (absl::Status status = CheckColumns(batch); !status.ok()) return status;
  if (absl::Status status = CheckKinds(batch); !status.ok()) return status;
  return CheckDependencies(batch, existing);
}

}  // namespace jackdaw
