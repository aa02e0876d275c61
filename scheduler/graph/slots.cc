#include "scheduler/graph/slots.h"

#include "scheduler/graph/concurrency_limit.h"
#include "scheduler/graph/job_impl.h"

namespace jackdaw {
namespace {

// Queues a task that was promised a slot again. It waited with a lease of its own.
void Requeue(TaskCell* promised) {
  if (promised == nullptr) return;
  JobImpl& job = *promised->kind().job;
  const TaskIndex task = promised->index();
  job.core().feeder().Push(job, absl::MakeConstSpan(&task, 1));
  job.DropLeases(1);
}

}  // namespace

bool StartInSlot(TaskCell& cell) {
  ConcurrencyLimit* limit = cell.kind().action->concurrency_limit();
  JobImpl& job = *cell.kind().job;
  TaskNode& node = job.node(cell.index());
  if (limit == nullptr) return node.Start();
  if (node.state() != TaskState::kQueued) {
    ForgetSlot(cell);
    return false;
  }
  // The lease comes first: once the task is on the waiting list another thread may take it.
  job.AddLeases(1);
  if (!limit->Acquire(&cell)) return false;
  job.DropLeases(1);
  if (node.Start()) return true;
  Requeue(limit->Release());
  return false;
}

void ForgetSlot(TaskCell& cell) {
  ConcurrencyLimit* limit = cell.kind().action->concurrency_limit();
  if (limit != nullptr) Requeue(limit->Forget(&cell));
}

void GiveBackSlot(TaskCell& cell) {
  ConcurrencyLimit* limit = cell.kind().action->concurrency_limit();
  if (limit != nullptr) Requeue(limit->Release());
}

}  // namespace jackdaw
