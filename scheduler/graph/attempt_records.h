// AttemptRecords: what is kept of attempts beyond the latest one's times, which are in the
// task itself: earlier attempts and logs. Costs nothing for a task that has neither.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_SCHEDULER_GRAPH_ATTEMPT_RECORDS_H_
#define JACKDAW_SCHEDULER_GRAPH_ATTEMPT_RECORDS_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/graph/job.h"

namespace jackdaw {

class AttemptRecords {
 public:
  // Keeps `record`; the oldest of the task goes when there are more than kMaxAttemptRecords.
  void Add(TaskIndex task, AttemptRecord record);
  // Oldest first.
  [[nodiscard]] std::vector<AttemptRecord> Of(TaskIndex task) const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<TaskIndex, std::vector<AttemptRecord>> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_ATTEMPT_RECORDS_H_
