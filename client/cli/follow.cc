#include "client/cli/follow.h"

#include "client/cli/exit_code.h"

namespace jackdaw::cli {

absl::StatusOr<v1::Job> Follow(client::JobWatch& watch, Reporter& reporter,
                               const std::function<void(const v1::JobEvent&)>& on_event) {
  v1::JobEvent event;
  while (true) {
    const absl::StatusOr<bool> more = watch.Next(event);
    if (!more.ok()) {
      reporter.End();
      return more.status();
    }
    if (!*more) break;
    reporter.OnEvent(event);
    on_event(event);
  }
  reporter.End();
  return reporter.progress().job();
}

int ExitCodeOf(const v1::Job& job) {
  return job.state() == v1::Job::STATE_SUCCEEDED ? kSuccess : kJobFailed;
}

}  // namespace jackdaw::cli
