// Steal: what a thief came back with from another worker's deque.

#ifndef JACKDAW_SCHEDULER_POOL_STEAL_H_
#define JACKDAW_SCHEDULER_POOL_STEAL_H_

#include "scheduler/pool/task.h"

namespace jackdaw {

// kEmpty means that there was nothing to take, which a deque with a private part (split_deque.h)
// may say while its owner still has tasks. kLost means that another thread claimed the task
// first: there may be more, so try again or move on.
struct Steal {
  enum class Outcome { kTaken, kEmpty, kLost };
  Outcome outcome;
  Task* task;  // Null unless kTaken.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_STEAL_H_
