// JobWatch: the events of one job, to its end, over as many streams as that takes. Made by
// Client::StartJob() and Client::WatchJob().
//
// Thread safety
//   Next()     one thread at a time.
//   Cancel()   any thread.
//
// Interruptions
//   After UNAVAILABLE the watch goes on with WatchJob from the last revision it has in full,
//   or, before it knows the job's name, repeats RunJob under the same request_id.

#ifndef JACKDAW_CLIENT_CPP_JOB_WATCH_H_
#define JACKDAW_CLIENT_CPP_JOB_WATCH_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cpp/retry.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/job_service.pb.h"

namespace jackdaw::client {

class Connection;

class JobWatch {
 public:
  // Begins with RunJob if `run` is given, otherwise with WatchJob.
  JobWatch(Connection* connection, std::optional<v1::RunJobRequest> run, v1::WatchJobRequest watch,
           absl::Duration deadline);
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Reads the next event into `event`. False: there are no more, the job is terminal and
  // the last event said so. Blocks. Errors as Client's; CANCELLED after Cancel().
  absl::StatusOr<bool> Next(v1::JobEvent& event);

  // Makes Next() return CANCELLED, now and ever. The job goes on, unless it was started with
  // cancel_on_disconnect.
  void Cancel();

  // Empty until the first event of a job that this watch started.
  [[nodiscard]] const std::string& job_name() const { return watch_.name(); }

 private:
  // Opens a stream. CANCELLED if Cancel() came before.
  absl::Status Open();
  // Ends the stream and returns what the server said.
  absl::Status Finish();
  void Remember(const v1::JobEvent& event);

  Connection* const connection_;
  std::optional<v1::RunJobRequest> run_;  // Until the job's name is known.
  v1::WatchJobRequest watch_;
  const absl::Time deadline_;
  RetrySchedule schedule_;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> reader_;
  bool done_ = false;

  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Replaced with each stream; Cancel() may be using it.
  std::shared_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_JOB_WATCH_H_
