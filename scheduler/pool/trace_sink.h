// TraceSink: is told what each worker of a pool does, as it does it. scheduler/trace has one that
// draws a timeline; implement your own to count or to print.
//
// A pool without a sink (WorkStealingPool::Options::trace) pays for it with one look at a null
// pointer for each task that it runs and for each that is pushed.
//
// Thread safety: each call comes on the thread of the worker that it names first, so calls for
// one worker follow each other and those for several overlap. They stand in the way of every
// task: they do not block, and throw nothing.

#ifndef JACKDAW_SCHEDULER_POOL_TRACE_SINK_H_
#define JACKDAW_SCHEDULER_POOL_TRACE_SINK_H_

#include "scheduler/pool/task.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

// Workers have the indices of WorkerContext::index().
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  // Around each task that the pool runs. They nest where a task runs others. What a task runs as
  // a part of itself (a fork that it took back, a piece that it counts as inline) is no task of its
  // own here. After the end `task` is gone; before, it is a name to know it by.
  virtual void TaskBegins(int worker, const Task& task, Origin origin) noexcept = 0;
  virtual void TaskEnds(int worker) noexcept = 0;

  // `thief` has taken `task` from the deque or the mailbox of `victim`. It begins next, unless
  // the pool is cancelling.
  virtual void Steals(int thief, int victim, const Task& task) noexcept = 0;

  // A task that runs on `worker` has made `task` and is about to push it.
  virtual void Spawns(int worker, const Task& task) noexcept = 0;

  // `worker` goes to sleep, and is up again.
  virtual void Parks(int worker) noexcept = 0;
  virtual void Unparks(int worker) noexcept = 0;

  // Around a part of the running task that names itself (scheduler/trace/trace_scope.h). `name`
  // lives for ever.
  virtual void ScopeBegins(int worker, const char* name) noexcept = 0;
  virtual void ScopeEnds(int worker) noexcept = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_TRACE_SINK_H_
