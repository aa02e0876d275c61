#include "scheduler/graph/attempt_records.h"

#include <utility>

namespace jackdaw {

void AttemptRecords::Add(TaskIndex task, AttemptRecord record) {
  absl::MutexLock lock(&mutex_);
  std::vector<AttemptRecord>& records = records_[task];
  if (records.size() == Job::kMaxAttemptRecords) records.erase(records.begin());
  records.push_back(std::move(record));
}

std::vector<AttemptRecord> AttemptRecords::Of(TaskIndex task) const {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(task);
  return it == records_.end() ? std::vector<AttemptRecord>() : it->second;
}

}  // namespace jackdaw
