// ServerOptions: all that an operator can choose about a server. The defaults are those of
// `jackdawd` without flags.

#ifndef JACKDAW_SERVER_OPTIONS_H_
#define JACKDAW_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/exec/commands.h"

namespace jackdaw {

// What a server accepts. Clients can read these (ServerService.GetServer).
struct ServerLimits {
  std::int64_t max_active_jobs = 10'000;
  std::int64_t max_done_jobs = 1'000;          // Beyond, the oldest are forgotten,
  std::int64_t max_done_tasks = 4'000'000;     // and also beyond so many tasks of them.
  std::int64_t max_active_tasks = 10'000'000;  // Of all jobs that are not done.
  std::int64_t max_tasks_per_job = 4'000'000;
  std::int64_t max_dependencies_per_task = 1 << 20;
  std::int64_t max_message_bytes = 32 << 20;
  std::int64_t max_payload_bytes = 4 << 20;  // Of one task.
  absl::Duration request_id_retention = absl::Hours(1);
  std::int64_t max_request_ids = 10'000;
  // What a client that was refused because of the load is told to wait.
  absl::Duration retry_delay = absl::Seconds(1);
};

struct ServerOptions {
  // `host:port`, `[v6]:port` or `unix:path`.
  std::vector<std::string> listen = {"127.0.0.1:7433"};
  int socket_mode = 0660;                  // Of Unix sockets.
  std::string metrics = "127.0.0.1:9433";  // Serves /metrics. Empty: nowhere.
  // How many names of jobs /metrics tells apart; the rest is counted as `__other__`.
  int job_name_series = 0;
  std::string health;  // Serves the health service alone. Empty: nowhere.

  int workers = -1;                              // -1: the usable CPUs.
  absl::Duration spin = absl::Microseconds(50);  // A worker's longest search before it sleeps.
  int rpc_queues = 1;  // Completion queues, each with a thread of its own.

  Commands::Options commands;  // Off unless it allows some.
  ServerLimits limits;
  absl::Duration grace = absl::Seconds(30);  // For running jobs, once the server is to end.
  std::string log_level = "info";            // trace, debug, info, warn, error or off.
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_OPTIONS_H_
