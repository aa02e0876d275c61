// A server under load from some clients goes on answering others.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr int kClients = 2;
constexpr int kJobsPerClient = 6;
constexpr std::size_t kMessageBytes = 3 << 20;

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// As slow to read as its size allows: one message a task, each with an id and a dependency.
v1::CreateJobRequest LargeRequest() {
  v1::CreateJobRequest request;
  v1::Job& job = *request.mutable_job();
  std::size_t bytes = 0;
  for (int i = 0; bytes < kMessageBytes; ++i) {
    v1::Task* task = AddTask(&job, absl::StrCat("task-", i), "noop");
    if (i > 0) task->add_after(absl::StrCat("task-", i / 2));
    bytes += task->ByteSizeLong() + 2;  // Its tag and its length.
  }
  return request;
}

class Prober {
 public:
  explicit Prober(const std::string& address) : stub_(Health::NewStub(Connect(address))) {}

  void Check() {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const absl::Time start = absl::Now();
    const grpc::Status status = stub_->Check(&context, HealthCheckRequest(), &response);
    longest_ = std::max(longest_, absl::Now() - start);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.status(), HealthCheckResponse::SERVING);
    ++answers_;
  }
  [[nodiscard]] int answers() const { return answers_; }
  [[nodiscard]] absl::Duration longest() const { return longest_; }

 private:
  std::unique_ptr<Health::Stub> stub_;
  int answers_ = 0;
  absl::Duration longest_;
};

TEST(BusyServerTest, HealthAnswersWhileLargeJobsArriveWithoutPause) {
  TestServer server([](ServerOptions& options) { options.health = "127.0.0.1:0"; });
  const v1::CreateJobRequest request = LargeRequest();
  ASSERT_GE(request.ByteSizeLong(), kMessageBytes);
  std::atomic<int> clients_left{kClients};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      const auto stub = v1::JobService::NewStub(Connect(server.address()));
      for (int k = 0; k < kJobsPerClient; ++k) {
        grpc::ClientContext context;
        v1::Job job;
        const grpc::Status status = stub->CreateJob(&context, request, &job);
        EXPECT_TRUE(status.ok()) << status.error_message();
      }
      --clients_left;
    });
  }
  Prober on_main(server.address());
  Prober on_its_own(server.server().health_address());
  do {
    on_main.Check();
    on_its_own.Check();
  } while (clients_left > 0 && !HasFatalFailure());
  for (std::thread& client : clients) client.join();
  EXPECT_GT(on_main.answers(), 1);
  // For people: a large message is read on the thread that answers the main port's probes.
  RecordProperty("longest_wait_on_main_ms", absl::ToInt64Milliseconds(on_main.longest()));
  RecordProperty("longest_wait_on_its_own_ms", absl::ToInt64Milliseconds(on_its_own.longest()));
  v1::ListJobsResponse listed;
  grpc::ClientContext context;
  ASSERT_TRUE(server.jobs().ListJobs(&context, v1::ListJobsRequest(), &listed).ok());
  ASSERT_EQ(listed.jobs_size(), kClients * kJobsPerClient);
  for (const v1::Job& job : listed.jobs()) {
    EXPECT_EQ(server.AwaitEnd(job.name()).state(), v1::Job::STATE_SUCCEEDED);
  }
}

}  // namespace
}  // namespace jackdaw
