// TestServer: a real server on a Unix socket of its own, with clients for it.

#ifndef JACKDAW_TESTS_SERVER_TEST_SERVER_H_
#define JACKDAW_TESTS_SERVER_TEST_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "google/rpc/error_details.pb.h"
#include "jackdaw/v1/handler_service.grpc.pb.h"
#include "jackdaw/v1/job_service.grpc.pb.h"
#include "jackdaw/v1/server_service.grpc.pb.h"
#include "scheduler/graph/action.h"
#include "server/server.h"
#include "tests/support/scrape.h"

namespace jackdaw {

// A function whose tasks go on until the gate is opened, or they are told to stop.
class Gate final : public Action {
 public:
  Gate() : Action("function", std::make_shared<ActionStats>("gate")) {}
  std::optional<Outcome> Start(Attempt& attempt) override;
  void Open();
  // Blocks until so many tasks have come to the gate.
  void AwaitArrivals(int count);

 private:
  absl::Mutex mutex_;
  bool open_ = false;
  int arrivals_ = 0;
  std::vector<std::shared_ptr<DetachedAttempt>> waiting_;
};

class TestServer {
 public:
  // Two workers, /metrics off, and as many queues as JACKDAW_RPC_QUEUES says, else one.
  // `adjust` may change that.
  explicit TestServer(const std::function<void(ServerOptions&)>& adjust = nullptr);
  ~TestServer();

  Server& server() { return *server_; }
  Gate& gate() { return *gate_; }
  const std::string& address() const { return server_->addresses().front(); }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }
  v1::JobService::Stub& jobs() { return *jobs_; }
  v1::ServerService::Stub& info() { return *info_; }

  // Creates a job and returns its name; reports a failure of the test if it is refused.
  std::string Create(const v1::Job& job);
  // Blocks until the job is terminal.
  v1::Job AwaitEnd(const std::string& name);
  // What GET /metrics answers, without its head.
  std::string Scrape();

 private:
  std::string folder_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<v1::ServerService::Stub> info_;
};

// A task that calls `function` after the tasks named.
v1::Task* AddTask(v1::Job* job, const std::string& id, const std::string& function,
                  const std::vector<std::string>& after = {});

// What an error tells a program.
struct ErrorDetails {
  int infos = 0;
  google::rpc::ErrorInfo info;
  std::vector<std::string> fields;  // Of BadRequest.
  bool has_retry = false;
};
ErrorDetails DetailsOf(const grpc::Status& status);

// Code, reason and first field in one line, such as
// `INVALID_ARGUMENT UNKNOWN_FUNCTION job.tasks[0].function.name`.
std::string Describe(const grpc::Status& status);

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SERVER_TEST_SERVER_H_
