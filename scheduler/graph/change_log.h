// ChangeLog: the last changes of a job, for its watchers. A ring: a watcher that falls
// behind it reads everything anew, so a slow one costs no memory. Recording starts with
// the first watcher; until then a change only counts.
//
// Thread safety: none; guarded by the job's progress.

#ifndef JACKDAW_SCHEDULER_GRAPH_CHANGE_LOG_H_
#define JACKDAW_SCHEDULER_GRAPH_CHANGE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "scheduler/graph/job.h"

namespace jackdaw {

class ChangeLog {
 public:
  static constexpr std::size_t kCapacity = 4096;  // Changes; a power of two.

  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  [[nodiscard]] bool recording() const { return !ring_.empty(); }
  void StartRecording();

  // Counts `changes` task changes; `tasks` lists them while recording.
  void Add(std::uint64_t changes, absl::Span<const TaskIndex> tasks);
  // A change of the job itself.
  void AddJobChange();

  [[nodiscard]] JobChanges Since(std::uint64_t revision) const;

 private:
  static constexpr TaskIndex kJobItself = 0xffffffff;

  std::uint64_t revision_ = 1;        // That of the job's creation.
  std::uint64_t recorded_after_ = 0;  // Changes beyond this revision are in the ring, if not lost.
  std::vector<TaskIndex> ring_;       // The change to revision r is at r mod kCapacity.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_CHANGE_LOG_H_
