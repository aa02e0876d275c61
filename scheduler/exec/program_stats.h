// ProgramStats: the statistics of commands, one a program. Clients choose programs, so the
// number of programs that are told apart is capped; the rest is counted together.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_SCHEDULER_EXEC_PROGRAM_STATS_H_
#define JACKDAW_SCHEDULER_EXEC_PROGRAM_STATS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/graph/action_stats.h"

namespace jackdaw {

class ProgramStats {
 public:
  static constexpr std::size_t kMaxPrograms = 64;
  static constexpr std::size_t kMaxNameBytes = 64;
  static constexpr char kOther[] = "__other__";

  ProgramStats();

  // The statistics of programs called `name`. Those of kOther for a name that is not 1 to
  // kMaxNameBytes printable ASCII characters, beyond kMaxPrograms, and for a new one of
  // which `exists` (called without locks, and only for new ones) says that there is no such
  // program: mistyped names must not use up the cap.
  std::shared_ptr<ActionStats> Of(absl::string_view name, const std::function<bool()>& exists);

  // By name; kOther is last.
  [[nodiscard]] std::vector<std::shared_ptr<ActionStats>> All() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<ActionStats>, std::less<>> programs_
      ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<ActionStats> other_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_PROGRAM_STATS_H_
