// WorkSource: where a pool finds work that is kept outside its deques. The job engine is
// one: it holds the ready tasks of many jobs in queues of its own, so that they can be
// prioritised, weighed and cancelled cheaply, and hands a worker a few at a time.

#ifndef JACKDAW_SCHEDULER_POOL_WORK_SOURCE_H_
#define JACKDAW_SCHEDULER_POOL_WORK_SOURCE_H_

#include <cstddef>

#include "absl/types/span.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class WorkSource {
 public:
  virtual ~WorkSource() = default;

  // Fills the front of `out` with tasks to run now and returns how many; 0 if there are
  // none. Called by a worker that ran out of work of its own, and on its fairness turns.
  // The pool has then accepted them. Does not block.
  [[nodiscard]] virtual std::size_t Take(absl::Span<Task*> out) = 0;

  // Whether Take() would find something. A worker asks after it announced that it will
  // park, so this must be a seq_cst read: work made visible (seq_cst) before
  // WorkStealingPool::NotifySource() is either seen here or wakes the worker there.
  [[nodiscard]] virtual bool HasWork() const = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORK_SOURCE_H_
