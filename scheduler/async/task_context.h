// TaskContext: what goes with a piece of work from thread to thread: its local values
// (local_key.h) and, where it is a fiber's, the node of that fiber (fiber_node.h).
//
// Each spawned function and coroutine has one. It starts with the local values of whoever
// spawned it, and is the current one of whichever thread runs the work.
//
// Thread safety: none; only the thread that runs the work uses it.

#ifndef JACKDAW_SCHEDULER_ASYNC_TASK_CONTEXT_H_
#define JACKDAW_SCHEDULER_ASYNC_TASK_CONTEXT_H_

#include "scheduler/async/local_map.h"

namespace jackdaw {

class FiberNode;

struct TaskContext {
  // One for new work: with the local values of the current one.
  [[nodiscard]] static TaskContext Inherit();

  // That of the work which the calling thread runs; outside of any, the thread's own. Not
  // inlined, so that a coroutine which changed threads cannot see its old one.
  [[nodiscard]] static TaskContext& Current();

  // While it lives, `context` is the current one of this thread; null is the thread's own.
  // `context` may die before it. Nests.
  class Installed {
   public:
    explicit Installed(TaskContext* context);
    ~Installed();
    Installed(const Installed&) = delete;
    Installed& operator=(const Installed&) = delete;

   private:
    TaskContext* const before_;
  };

  LocalMap locals;
  FiberNode* fiber = nullptr;  // The innermost node that the work runs in, or null.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_TASK_CONTEXT_H_
