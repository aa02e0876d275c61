#include "scheduler/exec/exit_status.h"

#include <string.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/exec/safe_text.h"

namespace jackdaw {

absl::Status ExitToStatus(const siginfo_t& info, absl::string_view last_line) {
  const std::string tail = last_line.empty() ? "" : absl::StrCat(": ", SafeText(last_line));
  if (info.si_code == CLD_EXITED) {
    if (info.si_status == 0) return absl::OkStatus();
    return absl::UnknownError(absl::StrCat("exit status ", info.si_status, tail));
  }
  const char* name = sigabbrev_np(info.si_status);
  const std::string shown = name == nullptr ? "" : absl::StrCat(" (SIG", name, ")");
  return absl::AbortedError(absl::StrCat("killed by signal ", info.si_status, shown,
                                         info.si_code == CLD_DUMPED ? ", core dumped" : "", tail));
}

}  // namespace jackdaw
