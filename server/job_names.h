// JobNames: tasks of finished jobs, counted by the jobs' display names. Clients choose
// names, so only the first few are told apart; the rest is counted together.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_SERVER_JOB_NAMES_H_
#define JACKDAW_SERVER_JOB_NAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

class JobNames {
 public:
  static constexpr char kOther[] = "__other__";
  using Tasks = std::array<std::int64_t, kTaskStateCount>;  // By state.

  explicit JobNames(std::size_t max_names) : max_names_(max_names) {}

  // Counts the tasks of a job that is done. A job without a name counts as kOther.
  void Count(absl::string_view name, const Tasks& tasks);

  // By name, and kOther, always.
  [[nodiscard]] std::vector<std::pair<std::string, Tasks>> Read() const;

 private:
  const std::size_t max_names_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Tasks, std::less<>> tasks_ ABSL_GUARDED_BY(mutex_);
  Tasks other_ ABSL_GUARDED_BY(mutex_){};
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_NAMES_H_
