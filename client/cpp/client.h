// Client: what a program does with a Jackdaw server: submits jobs, follows them, fetches
// what their tasks wrote.
//
//   auto client = jackdaw::Client::Connect({.address = "127.0.0.1:7433"});
//   jackdaw::JobBuilder job("greeting");
//   job.Function("echo").Payload("hello");
//   auto done = (*client)->RunJob(job.Build());
//
// Thread safety: every method from any thread. Calls block the caller.
//
// Errors
//   Those of the RPC (jackdaw/v1/job_service.proto lists them), with the field and the
//   reason in the message: see errors.h. Besides: UNAVAILABLE, the server could not be
//   reached in any of the attempts; DEADLINE_EXCEEDED; FAILED_PRECONDITION, the address
//   belongs to something that does not speak gRPC.
//
// Retries
//   A call that fails with UNAVAILABLE is tried again as Options::retry says, always under
//   the same request_id where it creates a job: a repeat never makes a second one.

#ifndef JACKDAW_CLIENT_CPP_CLIENT_H_
#define JACKDAW_CLIENT_CPP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cpp/address.h"
#include "client/cpp/job_watch.h"
#include "client/cpp/retry.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/job_service.pb.h"
#include "jackdaw/v1/server_service.pb.h"

namespace jackdaw::client {

class Connection;

class Client {
 public:
  struct Options {
    std::string address = kDefaultAddress;  // HOST:PORT or unix:PATH.
    // For one call, all its attempts together. Watching has no deadline but its own.
    absl::Duration deadline = absl::Seconds(30);
    RetryOptions retry = {};
    // Of one answer. Outputs are streamed and not limited by it.
    std::int64_t max_answer_bytes = 64 << 20;
    // For request ids and jitter. 0: taken from the system.
    std::uint64_t seed = 0;
    // How to wait between attempts. Empty: sleep.
    std::function<void(absl::Duration)> wait = {};
  };

  struct CreateOptions {
    std::string job_id = {};      // Empty: the server's choice.
    std::string request_id = {};  // Empty: a fresh one for each call.
    bool validate_only = false;
  };

  struct RunOptions {
    std::string job_id = {};
    std::string request_id = {};
    bool cancel_on_disconnect = false;
    // One event only, with the terminal job: the cheapest way to run a small job.
    bool final_only = false;
    v1::TaskUpdates task_updates = v1::TASK_UPDATES_NONE;
    std::int32_t max_output_bytes = 0;
    // For the whole job.
    absl::Duration deadline = absl::InfiniteDuration();
  };

  struct WatchOptions {
    std::int64_t revision = 0;  // 0: the full state first.
    v1::TaskUpdates task_updates = v1::TASK_UPDATES_NONE;
    std::int32_t max_output_bytes = 0;
    absl::Duration deadline = absl::InfiniteDuration();
  };

  struct ReadOptions {
    v1::ReadOutputRequest::Source source = v1::ReadOutputRequest::SOURCE_OUTPUT;
    int attempt = 0;          // Whose log; 0: the last.
    std::int64_t offset = 0;  // In bytes.
    std::int64_t limit = 0;   // In bytes; 0: all.
  };

  // Does not talk to the server yet. INVALID_ARGUMENT: the address.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Client>> Connect(Options options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Jobs may be named `jobs/{job}` or `{job}`.
  absl::StatusOr<v1::Job> CreateJob(v1::Job job, const CreateOptions& options);
  absl::StatusOr<v1::Job> CreateJob(v1::Job job) { return CreateJob(std::move(job), {}); }
  absl::StatusOr<v1::Job> GetJob(absl::string_view job);
  // One page.
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::Job> CancelJob(absl::string_view job, absl::string_view reason);
  absl::Status DeleteJob(absl::string_view job);

  // Creates a job and returns it when it is terminal, FAILED ones too. `on_event`, if given,
  // is called for every event before.
  absl::StatusOr<v1::Job> RunJob(v1::Job job, const RunOptions& options,
                                 const std::function<void(const v1::JobEvent&)>& on_event = {});
  absl::StatusOr<v1::Job> RunJob(v1::Job job);
  // The same, event by event. No call is made before JobWatch::Next(). The client must
  // outlive the watch.
  [[nodiscard]] std::unique_ptr<JobWatch> StartJob(v1::Job job, const RunOptions& options);
  [[nodiscard]] std::unique_ptr<JobWatch> WatchJob(absl::string_view job,
                                                   const WatchOptions& options);

  absl::StatusOr<v1::Task> GetTask(absl::string_view job, absl::string_view task,
                                   std::int32_t max_output_bytes = 0);
  // One page.
  absl::StatusOr<v1::ListTasksResponse> ListTasks(const v1::ListTasksRequest& request);
  // Hands the bytes to `sink` as they come; after an interruption goes on where it was. The
  // deadline holds for the whole. Returns how many bytes came.
  absl::StatusOr<std::int64_t> ReadOutput(absl::string_view job, absl::string_view task,
                                          const ReadOptions& options,
                                          const std::function<void(absl::string_view)>& sink);

  absl::StatusOr<v1::Server> GetServer();
  // Whether the server takes jobs; false while it ends. The standard health service, which an
  // address for probes serves too.
  absl::StatusOr<bool> IsServing();
  // All workers of all runners.
  absl::StatusOr<std::vector<v1::Worker>> ListWorkers();

  [[nodiscard]] const std::string& address() const;

 private:
  explicit Client(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace jackdaw::client

namespace jackdaw {
using client::Client;
}  // namespace jackdaw

#endif  // JACKDAW_CLIENT_CPP_CLIENT_H_
