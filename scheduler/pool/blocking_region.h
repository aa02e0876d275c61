// BlockingRegion: says that the running task is about to block its thread (a file, a lock, a call
// of another service). As long as it lives, an extra worker stands in, so that the pool goes on
// with as many as it has; when it ends, one retires before its next task.
//
//   status = pool.Run([&] {
//     const BlockingRegion region;
//     fsync(fd);
//   });
//
// It costs a thread's start, tens of microseconds: for what blocks longer than that. At most
// WorkStealingPool::Options::max_blocked tasks of a pool are stood in for at once; further ones
// block their workers, as without a region. So they do where the system refuses a thread.
//
// Off the workers of a WorkStealingPool, and on one that has no threads, it does nothing.
// Regions on one thread nest; the outermost counts.
//
// Thread safety: begins and ends on one thread; no co_await in between.

#ifndef JACKDAW_SCHEDULER_POOL_BLOCKING_REGION_H_
#define JACKDAW_SCHEDULER_POOL_BLOCKING_REGION_H_

#include "scheduler/pool/worker_context.h"

namespace jackdaw {

class BlockingRegion {
 public:
  // Does not block for the extra worker.
  BlockingRegion() : worker_(WorkerContext::Current()) {
    if (worker_ != nullptr) worker_->BeginBlocking();
  }
  ~BlockingRegion() {
    if (worker_ != nullptr) worker_->EndBlocking();
  }
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  WorkerContext* const worker_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_BLOCKING_REGION_H_
