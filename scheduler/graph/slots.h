// Slots: how tasks take their turn at an action with a concurrency limit.
//
// Thread safety: any thread that holds a lease on the task's job.

#ifndef JACKDAW_SCHEDULER_GRAPH_SLOTS_H_
#define JACKDAW_SCHEDULER_GRAPH_SLOTS_H_

#include "scheduler/graph/task_cell.h"

namespace jackdaw {

// Starts the next attempt of `cell`, with a slot of its action's limit if there is one. False:
// it waits for a slot, and will be queued again; or it is no longer QUEUED.
[[nodiscard]] bool StartInSlot(TaskCell& cell);

// The pool dropped `cell`: passes on the slot that it may have been promised.
void ForgetSlot(TaskCell& cell);

// Gives back the slot of an attempt that ended, to the task that has waited longest.
void GiveBackSlot(TaskCell& cell);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_SLOTS_H_
