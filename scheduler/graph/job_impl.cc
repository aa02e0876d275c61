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
  std::vector<TaskIndex> held;
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

std::uint32_t JobImpl::AddKinds(TaskBatch& batch, TaskIndex first) {
  const std::size_t first_kind = kinds_.size();
  kinds_.Grow(batch.kinds.size());
  for (std::size_t i = 0; i < batch.kinds.size(); ++i) {
    TaskKind& mine = kinds_[first_kind + i];
    mine.action = std::move(batch.kinds[i].action);
    mine.policy = std::move(batch.kinds[i].policy);
    mine.job = this;
    mine.instant = mine.action->instant() && mine.action->concurrency_limit() == nullptr &&
                   mine.policy.attempt_timeout == absl::ZeroDuration() &&
                   mine.policy.queue_timeout == absl::ZeroDuration();
    if (!batch.payloads.empty()) {
      mine.payload_shift = first - static_cast<std::uint32_t>(payloads_.size());
    }
    if (mine.policy.priority != kinds_[0].policy.priority) {
      mixes_priorities_.store(true, std::memory_order_relaxed);
    }
    if (mine.policy.queue_timeout > absl::ZeroDuration()) {
      limits_queue_time_.store(true, std::memory_order_relaxed);
    }
  }
  return static_cast<std::uint32_t>(first_kind);
}

void JobImpl::AddCells(TaskBatch& batch, TaskIndex first) {
  const std::uint32_t first_kind = AddKinds(batch, first);
  nodes_.Grow(batch.size(), [&](TaskNode* place, std::size_t task) {
    const std::uint32_t kind = first_kind + batch.kind[task - first];
    std::construct_at(place)->SetUp(kind, batch.dependency_count[task - first],
                                    kinds_[kind].policy.run_if);
  });
  cells_.Grow(batch.size(), [&](TaskCell* place, std::size_t task) {
    TaskKind& kind = kinds_[first_kind + batch.kind[task - first]];
    std::construct_at(place, &kind, static_cast<TaskIndex>(task));
  });
  times_.Grow(batch.size());
  Bytes* payload = batch.payloads.data();
  payloads_.Grow(batch.payloads.size(), [&payload](Bytes* place, std::size_t) {
    std::construct_at(place, std::move(*payload++));
  });
}

Bytes JobImpl::payload(TaskIndex index) const {
  const std::uint32_t shift = kind_of(index).payload_shift;
  return shift == TaskKind::kNoPayloads ? Bytes() : payloads_[index - shift];
}

std::vector<TaskIndex> JobImpl::LinkEdges(const TaskBatch& batch, TaskIndex first) {
  std::vector<TaskIndex> held = edges_.AddBatch(batch, first, nodes_);
  for (const TaskIndex task : held) nodes_[task].Hold();
  progress_.AddTasks(static_cast<std::int64_t>(batch.size()));
  task_count_.store(static_cast<std::int64_t>(cells_.size()), std::memory_order_release);
  // Last, for through older tasks the new ones are within others' reach.
  for (const TaskIndex task : held) LinkToOlder(task, first);
  return held;
}

void JobImpl::LinkToOlder(TaskIndex task, TaskIndex first) {
  const EdgeRun run = edges_.DependenciesOf(task);
  for (std::uint32_t place = run.first; place < run.end; ++place) {
    const TaskIndex dependency = edges_.dependency(place);
    if (dependency >= first || edges_.Append(cells_[dependency], task)) continue;
    // It cannot become ready by this: it is held.
    (void)nodes_[task].DependencyEnded(nodes_[dependency].state());
  }
}

void JobImpl::ReleaseHeld(const std::vector<TaskIndex>& held) {
  std::vector<TaskIndex> ready;
  Settler settler(*this, ready, ActionStats::kNoWorker);
  for (const TaskIndex task : held) settler.Release(task);
  // Even if all of them wait: the watchers have not been told yet that there are more tasks.
  settler.FlushEvenIfEmpty();
  settler.QueueReady();
}

}  // namespace jackdaw
