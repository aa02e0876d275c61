// The end of a real server: the first signal lets running work finish, the second does not.

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "jackdaw/v1/job_service.grpc.pb.h"
#include "jackdaw/v1/server_service.grpc.pb.h"
#include "tests/integration/server/fifo_gate.h"
#include "tests/support/server_process.h"

namespace jackdaw::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);

// Whether process `pid` is dead, or dies before long.
bool Dies(int pid) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return errno == ESRCH;
  pollfd dead{process, POLLIN, 0};
  const bool dies = poll(&dead, 1, static_cast<int>(absl::ToInt64Milliseconds(kPatience))) == 1;
  close(process);
  return dies;
}

class SignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server =
        ServerProcess::Start(JACKDAW_SERVER_PROGRAM, {"--allow-commands", "--grace", "1h"});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const auto channel =
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    jobs_ = v1::JobService::NewStub(channel);
    info_ = v1::ServerService::NewStub(channel);
    gate_ = std::make_unique<FifoGate>(server_->directory());
    v1::RunJobRequest request;
    gate_->Fill(request.mutable_job()->add_tasks()->mutable_command());
    run_ = jobs_->RunJob(&context_, request);
    process_ = gate_->AwaitProcess();
  }

  void SignalAndAwaitDrain(int signal) {
    server_->Signal(signal);
    v1::Server server;
    while (!server.draining()) {
      grpc::ClientContext context;
      const grpc::Status status = info_->GetServer(&context, {}, &server);
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<v1::ServerService::Stub> info_;
  std::unique_ptr<FifoGate> gate_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> run_;
  int process_ = 0;
};

TEST_F(SignalsTest, TheFirstLetsARunningTaskFinish) {
  SignalAndAwaitDrain(SIGTERM);
  gate_->Open();
  v1::JobEvent event;
  v1::Job last;
  while (run_->Read(&event)) {
    if (event.has_job()) last = event.job();
  }
  EXPECT_TRUE(run_->Finish().ok());
  EXPECT_EQ(last.state(), v1::Job::STATE_SUCCEEDED);
  const auto code = server_->Wait(kPatience);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 0);
}

TEST_F(SignalsTest, ASecondEndsAtOnceAndTheCommandWithIt) {
  SignalAndAwaitDrain(SIGTERM);
  server_->Signal(SIGTERM);
  const auto code = server_->Wait(kPatience);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 128 + SIGTERM);
  EXPECT_TRUE(Dies(process_));
  v1::JobEvent event;
  while (run_->Read(&event)) {
  }
  EXPECT_EQ(run_->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(SignalsTest, ASecondOfAnotherKindCountsToo) {
  SignalAndAwaitDrain(SIGTERM);
  server_->Signal(SIGINT);
  const auto code = server_->Wait(kPatience);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 128 + SIGINT);
}

}  // namespace
}  // namespace jackdaw::testing
