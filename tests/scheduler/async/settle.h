// Waits for a future whose work is done by a pool that may have no threads of its own.

#ifndef JACKDAW_TESTS_SCHEDULER_ASYNC_SETTLE_H_
#define JACKDAW_TESTS_SCHEDULER_ASYNC_SETTLE_H_

#include "gtest/gtest.h"
#include "scheduler/async/future.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {

// Runs the pool where it has no threads, and blocks until `future` is ready.
template <typename T>
const FutureResult<T>& Settle(WorkStealingPool& pool, const Future<T>& future) {
  if (pool.size() == 0) {
    pool.RunUntilIdle();
    EXPECT_TRUE(future.is_ready()) << "nothing is left to run, and the future is not ready";
  }
  return future.Wait();
}

// A test at 0, 1, 2 and 8 workers.
class AtWorkerCounts : public ::testing::TestWithParam<int> {
 protected:
  WorkStealingPool pool_{{.name = "test", .workers = GetParam()}};
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_ASYNC_SETTLE_H_
