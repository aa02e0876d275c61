// RunningAttempts: how to reach the attempts of a job that go on outside a worker, and the
// timers that watch its tasks.
//
// Thread safety: every method from any thread. Callbacks are called without locks.

#ifndef JACKDAW_SCHEDULER_GRAPH_RUNNING_ATTEMPTS_H_
#define JACKDAW_SCHEDULER_GRAPH_RUNNING_ATTEMPTS_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/graph/batch.h"

namespace jackdaw {

class RunningAttempts {
 public:
  using StopCallback = std::function<void(const absl::Status& reason)>;

  // Remembers how to stop attempt `attempt` of `task`, which was just detached. One that was
  // given up may detach while the next one runs already.
  void AddDetached(TaskIndex task, int attempt, StopCallback on_stop);
  void RemoveDetached(TaskIndex task, int attempt);
  // Calls the stop callback of one attempt, or of all, at most once each. False: it has none,
  // or had its call.
  bool Stop(TaskIndex task, int attempt, const absl::Status& reason);
  void StopAll(const absl::Status& reason);

  // Sets the one timer of `task`; an earlier one is cancelled. Whoever stops it finds it, even if
  // it is due at once.
  void SetTimer(TaskIndex task, TimerQueue& timers, absl::Duration wait,
                std::function<void()> callback);
  // Cancels the timer of `task`, if it has one.
  void StopTimer(TaskIndex task, TimerQueue& timers);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::pair<TaskIndex, int>, StopCallback> detached_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TaskIndex, TimerQueue::TimerId> timers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_RUNNING_ATTEMPTS_H_
