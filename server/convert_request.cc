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
    if (!violations_.empty()) return violations_.ToStatus();
    absl::StatusOr<std::int64_t> total = CountTasks(job_, *catalog_.limits);
    if (!total.ok()) return total.status();
    total_ = static_cast<std::uint32_t>(*total);
    Reserve();
    CollectIds();
    for (int i = 0; i < job_.tasks_size() && Continue(); ++i) AddTask(i);
    for (int i = 0; i < job_.task_arrays_size() && Continue(); ++i) AddArray(i);
    if (!denied_.ok()) return denied_;
    if (violations_.empty()) CheckCycles();
    if (!violations_.empty()) return violations_.ToStatus();
    KeepSpec();
    return std::move(request_);
  }

 private:
  bool Continue() const { return denied_.ok() && !violations_.full(); }

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
    request_.batch.kind.push_back(KindOf(task, [&] { return TaskPath(i); }));
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
    const std::uint32_t kind = KindOf(prototype, [&] { return path + ".prototype"; });
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

  // The place of the task's action and policy among the batch's kinds; 0 after a violation.
  std::uint32_t KindOf(const v1::Task& task, auto path) {
    std::string key = KindKey(task);
    const auto found = kind_of_.find(key);
    if (found != kind_of_.end()) return found->second;
    TaskBatch::Kind kind;
    kind.policy = ToPolicy(task, request_.options.priority, path(), &violations_);
    kind.action = ToAction(task, path());
    CheckRunner(task, path());
    if (kind.action == nullptr) return 0;
    const auto index = static_cast<std::uint32_t>(request_.batch.kinds.size());
    request_.batch.kinds.push_back(std::move(kind));
    spec_.kinds.push_back(KindOnly(task).SerializeAsString());
    kind_of_.emplace(std::move(key), index);
    return index;
  }

  static v1::Task KindOnly(const v1::Task& task) {
    v1::Task kind;
    if (task.has_function()) *kind.mutable_function() = task.function();
    if (task.has_command()) *kind.mutable_command() = task.command();
    if (task.has_handler()) *kind.mutable_handler() = task.handler();
    kind.set_run_if(task.run_if());
    kind.set_priority(task.priority());
    kind.set_runner(task.runner());
    if (task.has_retry_policy()) *kind.mutable_retry_policy() = task.retry_policy();
    if (task.has_attempt_timeout()) *kind.mutable_attempt_timeout() = task.attempt_timeout();
    if (task.has_queue_timeout()) *kind.mutable_queue_timeout() = task.queue_timeout();
    return kind;
  }

  // Most tasks call a function and leave the rest at its default: cheap to tell apart.
  static std::string KindKey(const v1::Task& task) {
    const bool plain = task.has_function() && task.run_if() == 0 && task.priority() == 0 &&
                       task.runner().empty() && !task.has_retry_policy() &&
                       !task.has_attempt_timeout() && !task.has_queue_timeout();
    return plain ? task.function().name() : absl::StrCat("\n", KindOnly(task).SerializeAsString());
  }

  void CheckRunner(const v1::Task& task, const std::string& path) {
    const auto& runners = catalog_.runners;
    if (task.runner().empty() ||
        std::find(runners.begin(), runners.end(), task.runner()) != runners.end()) {
      return;
    }
    violations_.Add(path + ".runner",
                    absl::StrCat("there is no runner \"", task.runner(), "\"; there is ",
                                 absl::StrJoin(runners, ", ")),
                    "UNKNOWN_RUNNER");
  }

  std::shared_ptr<Action> ToAction(const v1::Task& task, const std::string& path) {
    if (task.has_command()) return ToCommand(task.command(), path + ".command");
    if (task.has_function()) {
      std::shared_ptr<Action> action = catalog_.functions->Find(task.function().name());
      if (action != nullptr) return action;
      violations_.Add(path + ".function.name",
                      absl::StrCat("there is no function \"", task.function().name(), "\""),
                      "UNKNOWN_FUNCTION");
    } else if (task.has_handler()) {
      violations_.Add(path + ".handler", "this server does not run handlers yet",
                      "HANDLERS_NOT_IMPLEMENTED");
    } else {
      violations_.Add(path + ".action", "one of function, command and handler is required",
                      "NO_ACTION");
    }
    return nullptr;
  }

  std::shared_ptr<Action> ToCommand(const v1::CommandAction& command, const std::string& path) {
    if (!catalog_.caller_may_run_commands) {
      denied_ = MakeError(absl::StatusCode::kPermissionDenied,
                          path + ": commands are only for callers on the server's own machine",
                          "COMMANDS_NOT_FOR_THIS_CALLER", {{"field", path}});
      return nullptr;
    }
    if (command.argv_size() == 0 || command.argv(0).empty()) {
      violations_.Add(path + ".argv", "the program is missing", "EMPTY_COMMAND");
      return nullptr;
    }
    if (!v1::CommandAction::Stdin_IsValid(command.stdin())) {
      violations_.Add(path + ".stdin", absl::StrCat("is not a known value: ", command.stdin()));
      return nullptr;
    }
    auto action = catalog_.commands->Make(ToCommandSpec(command));
    if (action.ok()) return *std::move(action);
    if (absl::IsPermissionDenied(action.status())) {
      denied_ = MakeError(absl::StatusCode::kPermissionDenied,
                          absl::StrCat(path, ": ", action.status().message()),
                          "COMMAND_NOT_ALLOWED", {{"field", path}});
    } else {
      violations_.Add(path, std::string(action.status().message()), "INVALID_COMMAND");
    }
    return nullptr;
  }

  static CommandSpec ToCommandSpec(const v1::CommandAction& command) {
    CommandSpec spec;
    spec.argv.assign(command.argv().begin(), command.argv().end());
    for (const auto& [name, value] : command.environment()) spec.environment[name] = value;
    spec.working_directory = command.working_directory();
    if (command.stdin() == v1::CommandAction::STDIN_PAYLOAD) {
      spec.stdin_from = CommandSpec::Stdin::kPayload;
    } else if (command.stdin() == v1::CommandAction::STDIN_INPUTS) {
      spec.stdin_from = CommandSpec::Stdin::kInputs;
    }
    return spec;
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
  absl::Status denied_;
  std::uint32_t total_ = 0;
  absl::flat_hash_map<absl::string_view, std::uint32_t> index_of_;  // Into job_'s ids.
  absl::flat_hash_map<std::string, std::uint32_t> kind_of_;
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
