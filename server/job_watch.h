// Following a job over a stream: the coroutine behind WatchJob and RunJob.

#ifndef JACKDAW_SERVER_JOB_WATCH_H_
#define JACKDAW_SERVER_JOB_WATCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/job_events.h"
#include "server/job_table.h"
#include "server/rpc/call.h"
#include "server/rpc/rpc.h"

namespace jackdaw {

struct WatchOptions {
  std::string runner;
  JobEvents::Tasks tasks = JobEvents::Tasks::kNone;
  std::int64_t max_output_bytes = 0;
  std::uint64_t revision = 0;
  bool final_only = false;            // Tells only the end.
  bool cancel_on_disconnect = false;  // Cancels the job if the client leaves before.
  bool created_here = false;          // The call made the job: at most one such a job.
};

// After an event, changes are gathered for this long, but for the last.
inline constexpr absl::Duration kWatchPause = absl::Milliseconds(20);

// Tells `call` the state of the job, then its changes until it is terminal. One event at a
// time is in the hands of gRPC, so a slow reader costs no memory.
Rpc FollowJob(std::shared_ptr<Call> call, JobEntry entry, WatchOptions options);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_WATCH_H_
