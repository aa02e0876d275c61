#include "scheduler/graph/job_impl.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/graph/settler.h"

namespace jackdaw {
namespace {

std::int64_t QuantumOf(Priority priority) {
  return std::int64_t{1} << (2 * static_cast<int>(priority));  // 1, 4, 16.
}

std::string CycleText(const std::vector<std::uint32_t>& cycle, const TaskBatch& batch) {
  const auto name = [&](std::string* out, std::uint32_t position) {
    const bool named = !batch.ids.empty() && !batch.ids[position].empty();
    absl::StrAppend(out, named ? batch.ids[position] : absl::StrCat("#", position));
  };
  std::string path = absl::StrJoin(cycle, " -> ", name);
  absl::StrAppend(&path, " -> ");
  name(&path, cycle.front());
  return path;
}

}  // namespace

JobImpl::JobImpl(std::shared_ptr<EngineCore> core, JobOptions options)
    : core_(std::move(core)),
      options_(std::move(options)),
      created_(core_->clock().Now()),
      created_ns_(core_->clock().MonotonicNanos()) {
  feeder_entry_.quantum = QuantumOf(options_.priority);
}

std::int64_t JobImpl::now_ns() const { return core_->clock().MonotonicNanos() - created_ns_; }

void JobImpl::DropLeases(std::int64_t count) {
  if (leases_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  const std::shared_ptr<EngineCore> core = core_;
  core->Forget(options_.id);
}

void JobImpl::Finish() {
  progress_.AnnounceDone();
  DropLeases(1);
}

absl::StatusOr<TaskIndex> JobImpl::Add(TaskBatch batch) {
  std::vector<TaskCell*> held;
  TaskIndex first = 0;
  {
    absl::MutexLock lock(&add_mutex_);
    if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
    first = static_cast<TaskIndex>(cells_.size());
    if (absl::Status status = names_.AddAll(std::move(batch.ids), first, batch.size());
        !status.ok()) {
      return status;
    }
    AddCells(batch, first);
    held = LinkEdges(batch, first);
  }
  ReleaseHeld(held);
  return first;
}

absl::Status JobImpl::CheckBatch(const TaskBatch& batch) const {
  if (progress_.sealed()) {
    return absl::FailedPreconditionError(absl::StrCat("job '", id(), "' takes no more tasks"));
  }
  const auto tasks = static_cast<std::int64_t>(cells_.size() + batch.size());
  const std::int64_t dependencies =
      edges_.size() + static_cast<std::int64_t>(batch.dependencies.size());
  if (tasks > kMaxTasks || dependencies > kMaxDependencies) {
    return absl::ResourceExhaustedError(absl::StrCat("the job would have ", tasks, " tasks and ",
                                                     dependencies, " dependencies, the limits are ",
                                                     kMaxTasks, " and ", kMaxDependencies));
  }
  if (absl::Status status = Validate(batch, cells_.size()); !status.ok()) return status;
  if (const std::vector<std::uint32_t> cycle = FindCycle(batch); !cycle.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tasks depend on each other in a cycle: ", CycleText(cycle, batch)));
  }
  return absl::OkStatus();
}

std::vector<TaskKind*> JobImpl::AddKinds(std::vector<TaskBatch::Kind> kinds) {
  std::vector<TaskKind*> added;
  for (TaskBatch::Kind& kind : kinds) {
    TaskKind& mine = kinds_.emplace_back();
    mine.action = std::move(kind.action);
    mine.policy = std::move(kind.policy);
    mine.job = this;
    mine.instant = mine.action->instant() && mine.action->concurrency_limit() == nullptr &&
                   mine.policy.attempt_timeout == absl::ZeroDuration() &&
                   mine.policy.queue_timeout == absl::ZeroDuration();
    if (mine.policy.priority != kinds_.front().policy.priority) {
      mixes_priorities_.store(true, std::memory_order_relaxed);
    }
    added.push_back(&mine);
  }
  return added;
}

void JobImpl::AddCells(TaskBatch& batch, TaskIndex first) {
  const std::vector<TaskKind*> kinds = AddKinds(std::move(batch.kinds));
  cells_.Grow(batch.size());
  std::uint32_t edge = edges_.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t count = batch.dependency_count[i];
    Bytes payload = batch.payloads.empty() ? Bytes() : std::move(batch.payloads[i]);
    const auto index = static_cast<TaskIndex>(first + i);
    cells_[index].SetUp(kinds[batch.kind[i]], index, edge, count, std::move(payload));
    edge += count;
  }
}

std::vector<TaskCell*> JobImpl::LinkEdges(const TaskBatch& batch, TaskIndex first) {
  std::vector<TaskCell*> held;
  std::uint32_t edge = edges_.size();
  edges_.Grow(batch.dependencies.size());
  const std::uint32_t start = edge;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    TaskCell& cell = cells_[first + i];
    const std::uint32_t end = edge + batch.dependency_count[i];
    bool may_start = batch.dependency_count[i] == 0;
    for (std::uint32_t e = edge; e < end && !may_start; ++e) {
      may_start = (batch.dependencies[e - start] & TaskBatch::kInBatchBit) == 0;
    }
    // Others may reach the task as soon as it is on the list of one that can end.
    if (may_start) {
      cell.Hold();
      held.push_back(&cell);
    }
    for (; edge < end; ++edge) {
      const std::uint32_t target = batch.dependencies[edge - start];
      const bool in_batch = (target & TaskBatch::kInBatchBit) != 0;
      const TaskIndex dependency = in_batch ? first + (target ^ TaskBatch::kInBatchBit) : target;
      edges_[edge].dependency = dependency;
      edges_[edge].dependent = cell.index();
      if (in_batch) edges_.LinkUnshared(cells_[dependency], edge);
    }
  }
  // Dependencies of older tasks last: through them the new tasks are within others' reach.
  progress_.AddTasks(static_cast<std::int64_t>(batch.size()));
  task_count_.store(static_cast<std::int64_t>(cells_.size()), std::memory_order_release);
  for (TaskCell* cell : held) {
    for (edge = cell->first_edge(); edge < cell->first_edge() + cell->edge_count(); ++edge) {
      TaskCell& dependency = cells_[edges_[edge].dependency];
      if (dependency.index() >= first || edges_.Link(dependency, edge)) continue;
      // It cannot become ready by this: it is held.
      (void)cell->DependencyEnded(dependency.state());
    }
  }
  return held;
}

void JobImpl::ReleaseHeld(const std::vector<TaskCell*>& held) {
  std::vector<TaskCell*> ready;
  Settler settler(*this, ready, ActionStats::kNoWorker);
  for (TaskCell* cell : held) settler.Release(*cell);
  settler.QueueReady();
  settler.Flush();
}

}  // namespace jackdaw
