// CommandHost: what all commands of one reactor share.
//
// Thread safety: the reactor's thread, once it runs.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMAND_HOST_H_
#define JACKDAW_SCHEDULER_EXEC_COMMAND_HOST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/base/unique_fd.h"
#include "scheduler/exec/poller.h"
#include "scheduler/exec/spawner.h"

namespace jackdaw {

struct CommandLimits {
  std::int64_t max_output_bytes = 0;
  std::int64_t max_log_bytes = 0;
  absl::Duration grace;   // Between SIGTERM and SIGKILL.
  absl::Duration linger;  // How long a dead program's output may be held by others.
};

struct CommandHost {
  CommandLimits limits;
  std::map<std::string, std::string> environment;  // What the operator passes on.
  Poller poller;
  Spawner spawner;
  UniqueFd dev_null;
  std::vector<char> read_buffer;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMAND_HOST_H_
