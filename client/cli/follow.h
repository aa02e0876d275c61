// Follows a job to its end and shows how it goes.

#ifndef JACKDAW_CLIENT_CLI_FOLLOW_H_
#define JACKDAW_CLIENT_CLI_FOLLOW_H_

#include <functional>

#include "absl/status/statusor.h"
#include "client/cli/reporter.h"
#include "client/cpp/job_watch.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::cli {

// Returns the terminal job. `on_event` is called after the reporter has seen an event.
[[nodiscard]] absl::StatusOr<v1::Job> Follow(
    client::JobWatch& watch, Reporter& reporter,
    const std::function<void(const v1::JobEvent&)>& on_event);

// kSuccess only for SUCCEEDED.
[[nodiscard]] int ExitCodeOf(const v1::Job& job);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_FOLLOW_H_
