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
  core->Forget(*this);
}

bool JobImpl::TryAddLease() {
  std::int64_t leases = leases_.load(std::memory_order_relaxed);
  while (leases > 0) {
    if (leases_.compare_exchange_weak(leases, leases + 1, std::memory_order_relaxed)) return true;
  }
  return false;
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
    // Not sealed, so not done, and has its own lease; from here on a cancel may end it.
    AddLeases(1);
  }
  ReleaseHeld(held);
  DropLeases(1);
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
  times_.Grow(batch.size());
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
  edges_.AddBatch(batch, first, cells_);
  std::size_t edge = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    // Others may reach the task as soon as it is on the list of one that can end.
    bool may_start = batch.dependency_count[i] == 0;
    for (const std::size_t end = edge + batch.dependency_count[i]; edge < end; ++edge) {
      may_start = may_start || (batch.dependencies[edge] & TaskBatch::kInBatchBit) == 0;
    }
    if (!may_start) continue;
    TaskCell& cell = cells_[first + i];
    cell.Hold();
    held.push_back(&cell);
  }
  progress_.AddTasks(static_cast<std::int64_t>(batch.size()));
  task_count_.store(static_cast<std::int64_t>(cells_.size()), std::memory_order_release);
  // Last, for through older tasks the new ones are within others' reach.
  for (TaskCell* cell : held) LinkToOlder(*cell, first);
  return held;
}

void JobImpl::LinkToOlder(TaskCell& cell, TaskIndex first) {
  for (std::uint32_t edge = cell.first_edge(); edge < cell.first_edge() + cell.edge_count();
       ++edge) {
    TaskCell& dependency = cells_[edges_.dependency(edge)];
    if (dependency.index() >= first || edges_.Append(dependency, cell.index())) continue;
    // It cannot become ready by this: it is held.
    (void)cell.DependencyEnded(dependency.state());
  }
}

void JobImpl::ReleaseHeld(const std::vector<TaskCell*>& held) {
  std::vector<TaskCell*> ready;
  Settler settler(*this, ready, ActionStats::kNoWorker);
  for (TaskCell* cell : held) settler.Release(*cell);
  // Even if all of them wait: the watchers have not been told yet that there are more tasks.
  settler.FlushEvenIfEmpty();
  settler.QueueReady();
}

}  // namespace jackdaw
