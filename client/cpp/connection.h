// Connection: the channel to one server and what every call shares: deadline, retries,
// request ids. Not part of the library's interface.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_CLIENT_CPP_CONNECTION_H_
#define JACKDAW_CLIENT_CPP_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cpp/retry.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "jackdaw/v1/job_service.grpc.pb.h"
#include "jackdaw/v1/server_service.grpc.pb.h"

namespace jackdaw::client {

class Connection {
 public:
  struct Options {
    std::string address;  // As the user wrote it, for messages.
    std::string target;   // As gRPC wants it.
    absl::Duration deadline;
    RetryOptions retry;
    std::int64_t max_answer_bytes = 0;
    std::uint64_t seed = 0;
    std::function<void(absl::Duration)> wait;
  };

  explicit Connection(Options options);

  [[nodiscard]] const std::string& address() const { return options_.address; }
  [[nodiscard]] absl::Duration deadline() const { return options_.deadline; }
  [[nodiscard]] v1::JobService::Stub& jobs() const { return *jobs_; }
  [[nodiscard]] v1::ServerService::Stub& server() const { return *server_; }
  [[nodiscard]] grpc::health::v1::Health::Stub& health() const { return *health_; }

  // 128 random bits in hexadecimal.
  [[nodiscard]] std::string NewRequestId();
  [[nodiscard]] RetrySchedule NewRetrySchedule();
  void Wait(absl::Duration duration) const { options_.wait(duration); }

  // Calls `attempt` with a fresh context until it succeeds or is not worth another try.
  absl::Status Call(const std::function<grpc::Status(grpc::ClientContext*)>& attempt);

  static void SetDeadline(grpc::ClientContext& context, absl::Time deadline);

 private:
  std::uint64_t NextRandom();

  const Options options_;
  std::atomic<std::uint64_t> seed_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<v1::ServerService::Stub> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_CONNECTION_H_
