// WorkerContext: what a running task can see and use of the worker that runs it.
//
// Thread safety: a context belongs to its worker's thread; never hand it to another.

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_CONTEXT_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_CONTEXT_H_

#include <cstdint>

#include "scheduler/pool/task.h"

namespace jackdaw {

class TraceSink;
class WorkStealingPool;

// How the task that is running now was found.
enum class Origin : std::uint8_t { kOwnDeque, kStolen, kInjector, kMailbox, kInline };

class WorkerContext {
 public:
  // The context of the calling thread, or null where no work-stealing worker runs. Not
  // inlined, so that a coroutine which changed threads cannot see its old one.
  [[nodiscard]] static WorkerContext* Current();

  [[nodiscard]] virtual WorkStealingPool& pool() const = 0;
  [[nodiscard]] virtual int index() const = 0;  // In [0, pool().max_workers()).
  [[nodiscard]] virtual Origin origin() const = 0;
  [[nodiscard]] virtual TraceSink* trace() const = 0;  // Of the pool; null if there is none.

  // Pushes on this worker's own deque; the newest runs first, thieves take the oldest.
  // Wakes another worker if one should come. The pool has then accepted the task.
  virtual void Push(Task* task) = 0;

  // The same, for a task that this one takes back before it ends, unless another worker has taken
  // it. A deque with a private part (split_deque.h) may keep it there for a while.
  virtual void PushFork(Task* task) = 0;

  // As Push(), but behind all that waits in this worker's deque and in the injector: for a
  // task that lets others go first.
  virtual void PushBehind(Task* task) = 0;

  // Takes back what this worker pushed, whatever was pushed after it. True: the caller runs
  // it now, and the pool counts it as run; false: another worker has taken it.
  [[nodiscard]] virtual bool TakeBack(Task* task) = 0;

  // Runs the oldest task of worker `index` on this one, if there is one and it is of the kind
  // `kind` (Task::Is()); one of another kind goes to the injector. Whether a task ran. For a
  // task that waits for one which that worker runs.
  virtual bool RunOldestOf(int index, Task::Invoke kind) = 0;

  // Tasks in this worker's deque, give or take those being stolen. A task that has forked and
  // runs long looks now and then: this is when it hears that others want what is private.
  [[nodiscard]] virtual std::int64_t Depth() = 0;

  // Whether the task should end its turn soon because work from outside waits in the injector.
  // A cheap look, for long loops that run many small pieces. Not a word of idle workers: giving
  // a share to one of those pays only where the work outlasts the hand-over.
  [[nodiscard]] virtual bool ShouldYield() const = 0;

  // Counts pieces of work that the running task did on its own, without any queue, as
  // `count` tasks of origin kInline.
  virtual void CountInline(std::int64_t count) = 0;

  // The running task is about to wait for others: what it forked, they can take from now on.
  virtual void BeforeWait() = 0;

  // The running task blocks its thread from now on, and no more. See blocking_region.h.
  virtual void BeginBlocking() = 0;
  virtual void EndBlocking() = 0;

 protected:
  ~WorkerContext() = default;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_CONTEXT_H_
