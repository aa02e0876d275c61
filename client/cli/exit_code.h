// What `jackdaw` tells the shell. `jackdaw --help` lists these.

#ifndef JACKDAW_CLIENT_CLI_EXIT_CODE_H_
#define JACKDAW_CLIENT_CLI_EXIT_CODE_H_

#include "absl/status/status.h"

namespace jackdaw::cli {

enum ExitCode : int {
  kSuccess = 0,
  kJobFailed = 1,      // The job ended FAILED or CANCELLED.
  kUsage = 2,          // Wrong arguments, or a job file that is wrong or cannot be read.
  kUnreachable = 3,    // No server there, none that speaks gRPC, or no answer in time.
  kRefused = 4,        // The server said no: unknown job, bad graph, over a limit, ...
  kInterrupted = 130,  // Left by a second Ctrl-C; the job may still be stopping.
};

[[nodiscard]] ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_EXIT_CODE_H_
