#include "scheduler/graph/change_log.h"

#include <algorithm>

namespace jackdaw {

void ChangeLog::StartRecording() {
  if (recording()) return;
  ring_.resize(kCapacity);
  recorded_after_ = revision_;
}

void ChangeLog::Add(std::uint64_t changes, absl::Span<const TaskIndex> tasks) {
  if (!recording()) {
    revision_ += changes;
    return;
  }
  if (tasks.size() != changes) {
    // The changes began to be collected before the recording did: nobody can be told which.
    revision_ += changes;
    recorded_after_ = revision_;
    return;
  }
  for (const TaskIndex task : tasks) ring_[++revision_ % kCapacity] = task;
}

void ChangeLog::AddJobChange() {
  ++revision_;
  if (recording()) ring_[revision_ % kCapacity] = kJobItself;
}

JobChanges ChangeLog::Since(std::uint64_t revision) const {
  JobChanges changes;
  changes.revision = revision_;
  const bool covered = recording() && revision >= recorded_after_ && revision <= revision_ &&
                       revision_ - revision <= kCapacity;
  if (revision == 0 || !covered) {
    changes.resync = revision != revision_ || revision == 0;
    return changes;
  }
  for (std::uint64_t r = revision + 1; r <= revision_; ++r) {
    if (ring_[r % kCapacity] != kJobItself) changes.tasks.push_back(ring_[r % kCapacity]);
  }
  std::sort(changes.tasks.begin(), changes.tasks.end());
  changes.tasks.erase(std::unique(changes.tasks.begin(), changes.tasks.end()), changes.tasks.end());
  return changes;
}

}  // namespace jackdaw
