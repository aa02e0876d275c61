// NameTable: the ids of a job's tasks. A task that was added without one goes by its index
// in decimal, and costs nothing here.
//
// Thread safety: every method from any thread; AddAll() by one at a time.

#ifndef JACKDAW_SCHEDULER_GRAPH_NAMES_H_
#define JACKDAW_SCHEDULER_GRAPH_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/graph/batch.h"

namespace jackdaw {

class NameTable {
 public:
  // Names the tasks from `first` on; `ids` is empty or has `count` entries. INVALID_ARGUMENT,
  // and nothing is added, if an id is taken already or twice in `ids`.
  absl::Status AddAll(std::vector<std::string> ids, TaskIndex first, std::size_t count);

  [[nodiscard]] std::string NameOf(TaskIndex index) const;
  // `task_count`: how many tasks the job has.
  [[nodiscard]] std::optional<TaskIndex> Find(absl::string_view id, std::size_t task_count) const;

 private:
  absl::Status Check(const std::vector<std::string>& ids, TaskIndex first, std::size_t count) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  absl::node_hash_map<std::string, TaskIndex> index_of_ ABSL_GUARDED_BY(mutex_);
  // The keys above, which do not move.
  absl::flat_hash_map<TaskIndex, absl::string_view> name_of_ ABSL_GUARDED_BY(mutex_);
  // Whether some id reads as an index, which then could be mistaken for one.
  bool some_decimal_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_NAMES_H_
