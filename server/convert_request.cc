// The way in: a job as a client describes it becomes a graph.

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jackdaw/v1/job.pb.h"
#include "server/convert.h"
#include "server/errors.h"
#include "server/kind_table.h"
#include "server/policy_convert.h"
#include "server/resource_names.h"

namespace jackdaw {
namespace {

constexpr std::size_t kMaxCycleNamed = 64;  // Nodes of a cycle that an error names.

// Builds one graph. Field paths begin with `job`.
class GraphBuilder {
 public:
  GraphBuilder(const Catalog& catalog, v1::Job& job) : catalog_(catalog), job_(job) {}

  absl::StatusOr<GraphRequest> Build() {
    ToJobOptions(job_, &request_.options, &violations_);
    kinds_.SetPriority(request_.options.priority);
    if (!violations_.empty()) return violations_.ToStatus();
    absl::StatusOr<std::int64_t> total = CountTasks(job_, *catalog_.limits);
    if (!total.ok()) return total.status();
    total_ = static_cast<std::uint32_t>(*total);
    Reserve();
    CollectIds();
    for (int i = 0; i < job_.tasks_size() && Continue(); ++i) AddTask(i);
    for (int i = 0; i < job_.task_arrays_size() && Continue(); ++i) AddArray(i);
    if (!kinds_.denied().ok()) return kinds_.denied();
    if (violations_.empty()) CheckCycles();
    if (!violations_.empty()) return violations_.ToStatus();
    KeepSpec();
    return std::move(request_);
  }

 private:
  bool Continue() const { return kinds_.denied().ok() && !violations_.full(); }

  std::string TaskPath(int i) const { return absl::StrCat("job.tasks[", i, "]"); }
  std::string ArrayPath(int i) const { return absl::StrCat("job.task_arrays[", i, "]"); }

  void Reserve() {
    request_.batch.kind.reserve(total_);
    request_.batch.dependency_count.reserve(total_);
    std::size_t edges = 0;
    for (const auto& task : job_.tasks()) edges += task.after_size() + task.after_indices_size();
    for (const auto& array : job_.task_arrays()) edges += array.dependency_indices_size();
    request_.batch.dependencies.reserve(edges);
  }

  void CollectIds() {
    const auto add = [this](const std::string& id, std::uint32_t index, auto path) {
      if (id.empty() || violations_.full()) return;
      if (!IsTaskId(id)) {
        violations_.Add(path(), absl::StrCat(kTaskIdRule, ", was \"", id, "\""));
        return;
      }
      if (request_.batch.ids.empty()) request_.batch.ids.resize(total_);
      request_.batch.ids[index] = id;
      const auto [position, is_new] = index_of_.try_emplace(id, index);
      if (is_new) return;
      violations_.Add(path(),
                      absl::StrCat("\"", id, "\" is also the id of task ", position->second),
                      "DUPLICATE_TASK_ID");
    };
    std::uint32_t index = 0;
    for (int i = 0; i < job_.tasks_size(); ++i) {
      add(job_.tasks(i).task_id(), index++, [&] { return TaskPath(i) + ".task_id"; });
    }
    for (int i = 0; i < job_.task_arrays_size(); ++i) {
      const auto& array = job_.task_arrays(i);
      if (CheckColumn(i, "task_ids", array.task_ids_size())) {
        for (int k = 0; k < array.task_ids_size(); ++k) {
          add(array.task_ids(k), index + static_cast<std::uint32_t>(k),
              [&] { return absl::StrCat(ArrayPath(i), ".task_ids[", k, "]"); });
        }
      }
      index += static_cast<std::uint32_t>(array.count());
    }
  }

  bool CheckColumn(int array, absl::string_view column, int size) {
    const int count = job_.task_arrays(array).count();
    if (size == 0 || size == count) return true;
    violations_.Add(absl::StrCat(ArrayPath(array), ".", column),
                    absl::StrCat("has ", size, " entries for ", count, " tasks"));
    return false;
  }

  void AddTask(int i) {
    v1::Task& task = *job_.mutable_tasks(i);
    request_.batch.kind.push_back(kinds_.Of(task, [&] { return TaskPath(i); }));
    AddPayload(task.mutable_payload(), [&] { return TaskPath(i) + ".payload"; });
    if (!task.labels().empty()) KeepLabels(i);
    AddDependencies(i);
  }

  void AddPayload(std::string* payload, auto path) {
    auto& payloads = request_.batch.payloads;
    const std::size_t index = request_.batch.kind.size() - 1;
    if (payload->empty()) return;
    if (!CheckPayload(*payload, path)) return;
    if (payloads.empty()) payloads.resize(total_);
    payloads[index] = Bytes(std::move(*payload));
  }

  bool CheckPayload(const std::string& payload, auto path) {
    const auto limit = static_cast<std::size_t>(catalog_.limits->max_payload_bytes);
    if (payload.size() <= limit) return true;
    violations_.Add(path(), absl::StrCat("has ", payload.size(), " bytes; the limit is ", limit),
                    "PAYLOAD_TOO_LARGE");
    return false;
  }

  void KeepLabels(int i) {
    v1::Task labelled;
    CheckLabels(TaskPath(i) + ".labels", job_.tasks(i).labels(), &violations_);
    labelled.mutable_labels()->swap(*job_.mutable_tasks(i)->mutable_labels());
    spec_.labels[static_cast<std::uint32_t>(i)] = labelled.SerializeAsString();
  }

  bool CheckDependencyCount(std::int64_t count, auto path) {
    const std::int64_t limit = catalog_.limits->max_dependencies_per_task;
    if (count >= 0 && count <= limit) return true;
    violations_.Add(path(),
                    absl::StrCat("there are ", count, " dependencies; the limit is ", limit),
                    "TOO_MANY_DEPENDENCIES");
    return false;
  }

  void AddDependencies(int i) {
    const v1::Task& task = job_.tasks(i);
    const std::int64_t count = std::int64_t{task.after_size()} + task.after_indices_size();
    if (!CheckDependencyCount(count, [&] {
          return TaskPath(i) + (task.after_size() > 0 ? ".after" : ".after_indices");
        })) {
      return;
    }
    request_.batch.dependency_count.push_back(static_cast<std::uint32_t>(count));
    for (int k = 0; k < task.after_size() && !violations_.full(); ++k) {
      const auto path = [&] { return absl::StrCat(TaskPath(i), ".after[", k, "]"); };
      const auto found = index_of_.find(task.after(k));
      if (found == index_of_.end()) {
        violations_.Add(path(), absl::StrCat("there is no task \"", task.after(k), "\""),
                        "UNKNOWN_DEPENDENCY");
        continue;
      }
      AddDependency(i, found->second, path);
    }
    for (int k = 0; k < task.after_indices_size() && !violations_.full(); ++k) {
      AddDependency(i, task.after_indices(k),
                    [&] { return absl::StrCat(TaskPath(i), ".after_indices[", k, "]"); });
    }
  }

  void AddDependency(std::int64_t task, std::int64_t dependency, auto path) {
    if (dependency < 0 || dependency >= total_) {
      violations_.Add(path(), absl::StrCat("must be 0 to ", total_ - 1, ", was ", dependency),
                      "UNKNOWN_DEPENDENCY");
    } else if (dependency == task) {
      violations_.Add(path(), absl::StrCat("task ", NameOf(dependency), " depends on itself"),
                      "SELF_DEPENDENCY");
    }
    request_.batch.dependencies.push_back(
        TaskBatch::InBatch(static_cast<std::uint32_t>(dependency)));
  }

  void AddArray(int i) {
    v1::TaskArray& array = *job_.mutable_task_arrays(i);
    v1::Task& prototype = *array.mutable_prototype();
    const std::string path = ArrayPath(i);
    if (!prototype.task_id().empty() ||
        prototype.after_size() + prototype.after_indices_size() > 0) {
      violations_.Add(path + ".prototype", "must have no task_id, after or after_indices");
      return;
    }
    if (!CheckColumn(i, "payloads", array.payloads_size()) ||
        !CheckColumn(i, "dependency_counts", array.dependency_counts_size()) ||
        !CheckPayload(prototype.payload(), [&] { return path + ".prototype.payload"; })) {
      return;
    }
    const std::uint32_t kind = kinds_.Of(prototype, [&] { return path + ".prototype"; });
    const auto first = static_cast<std::uint32_t>(request_.batch.kind.size());
    const Bytes shared(std::move(*prototype.mutable_payload()));
    if (!shared.empty() && request_.batch.payloads.empty()) request_.batch.payloads.resize(total_);
    for (int k = 0; k < array.count(); ++k) {
      request_.batch.kind.push_back(kind);
      if (array.payloads_size() > 0 && !array.payloads(k).empty()) {
        AddPayload(array.mutable_payloads(k),
                   [&] { return absl::StrCat(path, ".payloads[", k, "]"); });
      } else if (!shared.empty()) {
        request_.batch.payloads[first + static_cast<std::uint32_t>(k)] = shared;
      }
    }
    AddArrayDependencies(i, first);
  }

  void AddArrayDependencies(int i, std::uint32_t first) {
    const v1::TaskArray& array = job_.task_arrays(i);
    std::int64_t edge = 0;
    for (int k = 0; k < array.count() && !violations_.full(); ++k) {
      const std::int64_t count =
          array.dependency_counts_size() == 0 ? 0 : array.dependency_counts(k);
      if (!CheckDependencyCount(
              count, [&] { return absl::StrCat(ArrayPath(i), ".dependency_counts[", k, "]"); })) {
        return;
      }
      request_.batch.dependency_count.push_back(static_cast<std::uint32_t>(count));
      for (std::int64_t end = edge + count; edge < end; ++edge) {
        if (edge >= array.dependency_indices_size()) break;
        AddDependency(
            first + static_cast<std::uint32_t>(k), array.dependency_indices(static_cast<int>(edge)),
            [&] { return absl::StrCat(ArrayPath(i), ".dependency_indices[", edge, "]"); });
        if (violations_.full()) return;
      }
    }
    std::int64_t sum = 0;
    for (const std::int32_t count : array.dependency_counts()) sum += count;
    if (sum != array.dependency_indices_size()) {
      violations_.Add(ArrayPath(i) + ".dependency_indices",
                      absl::StrCat("has ", array.dependency_indices_size(),
                                   " entries; dependency_counts sums to ", sum));
    }
  }

  std::string NameOf(std::int64_t index) const {
    const auto& ids = request_.batch.ids;
    const auto i = static_cast<std::size_t>(index);
    return i < ids.size() && !ids[i].empty() ? ids[i] : absl::StrCat(index);
  }

  void CheckCycles() {
    const std::vector<std::uint32_t> cycle = FindCycle(request_.batch);
    if (cycle.empty()) return;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(cycle.size(), kMaxCycleNamed); ++i) {
      names.push_back(NameOf(cycle[i]));
    }
    if (names.size() < cycle.size()) {
      names.push_back(absl::StrCat("(", cycle.size() - names.size(), " more)"));
    }
    names.push_back(NameOf(cycle.front()));
    const std::string path = absl::StrJoin(names, " -> ");
    violations_.Add(PathOfEdge(cycle[0], cycle[1]),
                    absl::StrCat("the tasks depend on each other in a cycle: ", path),
                    "DEPENDENCY_CYCLE");
    violations_.AddMetadata("cycle", path);
  }

  // The field that makes `task` depend on `dependency`.
  std::string PathOfEdge(std::uint32_t task, std::uint32_t dependency) const {
    const TaskBatch& batch = request_.batch;
    std::size_t begin = 0;
    for (std::uint32_t i = 0; i < task; ++i) begin += batch.dependency_count[i];
    std::size_t k = 0;
    while (batch.dependencies[begin + k] != TaskBatch::InBatch(dependency)) ++k;
    if (task < static_cast<std::uint32_t>(job_.tasks_size())) {
      const auto names = static_cast<std::size_t>(job_.tasks(static_cast<int>(task)).after_size());
      return k < names ? absl::StrCat("job.tasks[", task, "].after[", k, "]")
                       : absl::StrCat("job.tasks[", task, "].after_indices[", k - names, "]");
    }
    // Edges of the arrays before, and of the single tasks, come first in the batch.
    auto first = static_cast<std::uint32_t>(job_.tasks_size());
    std::size_t edges_before = 0;
    for (std::uint32_t i = 0; i < first; ++i) edges_before += batch.dependency_count[i];
    int array = 0;
    while (task >= first + static_cast<std::uint32_t>(job_.task_arrays(array).count())) {
      first += static_cast<std::uint32_t>(job_.task_arrays(array).count());
      edges_before += static_cast<std::size_t>(job_.task_arrays(array).dependency_indices_size());
      ++array;
    }
    return absl::StrCat("job.task_arrays[", array, "].dependency_indices[",
                        begin + k - edges_before, "]");
  }

  void KeepSpec() {
    spec_.display_name = job_.display_name();
    request_.batch.kinds = kinds_.TakeKinds();
    spec_.kinds = kinds_.TakeMessages();
    if (spec_.kinds.size() > 1) spec_.kind = request_.batch.kind;
    v1::Job kept;
    kept.set_display_name(job_.display_name());
    kept.set_failure_policy(job_.failure_policy());
    kept.set_priority(job_.priority());
    if (job_.has_timeout()) *kept.mutable_timeout() = job_.timeout();
    *kept.mutable_labels() = job_.labels();
    spec_.job = kept.SerializeAsString();
    request_.spec = std::make_shared<const JobSpec>(std::move(spec_));
  }

  const Catalog& catalog_;
  v1::Job& job_;
  GraphRequest request_;
  JobSpec spec_;
  Violations violations_;
  KindTable kinds_{catalog_, &violations_};
  std::uint32_t total_ = 0;
  absl::flat_hash_map<absl::string_view, std::uint32_t> index_of_;  // Into job_'s ids.
};

}  // namespace

absl::StatusOr<GraphRequest> ToGraph(const Catalog& catalog, v1::Job* job) {
  return GraphBuilder(catalog, *job).Build();
}

absl::StatusOr<std::int64_t> CountTasks(const v1::Job& job, const ServerLimits& limits) {
  const std::int64_t limit = limits.max_tasks_per_job;
  std::int64_t total = job.tasks_size();
  for (int i = 0; i < job.task_arrays_size(); ++i) {
    const std::int64_t count = job.task_arrays(i).count();
    if (count < 1 || count > limit) {
      return FieldError(absl::StrCat("job.task_arrays[", i, "].count"),
                        absl::StrCat("must be 1 to ", limit, ", was ", count));
    }
    total += count;
  }
  if (total <= limit) return total;
  return FieldError(
      "job.tasks",
      absl::StrCat("has ", total, " tasks, task_arrays included; the limit is ", limit),
      "TOO_MANY_TASKS");
}

}  // namespace jackdaw
