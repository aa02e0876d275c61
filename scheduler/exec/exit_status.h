// What the end of a process means for its task.

#ifndef JACKDAW_SCHEDULER_EXEC_EXIT_STATUS_H_
#define JACKDAW_SCHEDULER_EXEC_EXIT_STATUS_H_

#include <signal.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// `info` as waitid() gave it. OK for exit status 0. UNKNOWN, `exit status N`, for another:
// only the program knows what it means. ABORTED, `killed by signal 11 (SIGSEGV)`, for a
// death by signal. `last_line` of its log, unless empty, is added.
[[nodiscard]] absl::Status ExitToStatus(const siginfo_t& info, absl::string_view last_line);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_EXIT_STATUS_H_
