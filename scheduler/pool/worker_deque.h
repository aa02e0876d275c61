// WorkerDeque: the deque that the workers use, chosen when the library is built: WorkDeque, or,
// with the option JACKDAW_SPLIT_DEQUE, SplitDeque. See docs/decisions/deque-split.md.

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_DEQUE_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_DEQUE_H_

#ifdef JACKDAW_SPLIT_DEQUE
#include "scheduler/pool/split_deque.h"
#else
#include "scheduler/pool/work_deque.h"
#endif

namespace jackdaw {

#ifdef JACKDAW_SPLIT_DEQUE
using WorkerDeque = SplitDeque;
#else
using WorkerDeque = WorkDeque;
#endif

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_DEQUE_H_
