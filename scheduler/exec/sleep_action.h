// SleepAction: the stock function `sleep`. An attempt is a timer, not a thread.
//
// Thread safety: as every action.

#ifndef JACKDAW_SCHEDULER_EXEC_SLEEP_ACTION_H_
#define JACKDAW_SCHEDULER_EXEC_SLEEP_ACTION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class SleepAction final : public Action {
 public:
  // `timers` outlives every attempt.
  explicit SleepAction(TimerQueue& timers);

  std::optional<Outcome> Start(Attempt& attempt) override;

 private:
  TimerQueue& timers_;
};

// Reads `250ms`, `1h30m` or a number of seconds. INVALID_ARGUMENT for anything else, for a
// negative span and for one beyond kMaxSleep.
[[nodiscard]] absl::StatusOr<absl::Duration> ParseSleep(absl::string_view payload);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_SLEEP_ACTION_H_
