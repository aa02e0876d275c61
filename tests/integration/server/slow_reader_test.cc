// A watcher that stops reading costs the server one message, whatever the job does meanwhile.

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "jackdaw/v1/job_service.grpc.pb.h"
#include "tests/integration/server/fifo_gate.h"
#include "tests/support/scrape.h"
#include "tests/support/server_process.h"

namespace jackdaw::testing {
namespace {

constexpr int kTasks = 200'000;
constexpr int kStalled = 4;
// What the job's own end may cost. The changes that are not told yet, as messages, would be
// more than twice as much for each watcher.
constexpr long kMostGrowthBytes = 64L << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;  // Sanitizers keep what was freed.
#else
constexpr bool kMemoryIsOurs = true;
#endif

// A task that holds back all others until the test lets it end.
v1::Job HeldJob(const FifoGate& gate) {
  v1::Job job;
  gate.Fill(job.add_tasks()->mutable_command());
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    array->add_dependency_counts(1);
    array->add_dependency_indices(0);
  }
  return job;
}

struct Watch {
  Watch(v1::JobService::Stub& jobs, const std::string& name, v1::TaskUpdates updates) {
    v1::WatchJobRequest request;
    request.set_name(name);
    request.set_task_updates(updates);
    reader = jobs.WatchJob(&context, request);
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> reader;
};

class SlowReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server =
        ServerProcess::Start(JACKDAW_SERVER_PROGRAM, {"--allow-commands", "--workers", "2"});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    jobs_ = v1::JobService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }

  // Waits until exactly `n` messages wait for their readers. Between two messages of a stream
  // that is read, or that gRPC still has room for, none does.
  void AwaitPendingMessages(int n) {
    while (SumSeries(Scrape(server_->metrics_port()), "jackdaw_rpc_pending_messages{") != n) {
    }
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
};

TEST_F(SlowReaderTest, ItCostsOneMessageAndLearnsTheLatestWhenItReadsOn) {
  FifoGate gate(server_->directory());
  v1::Job job;
  {
    grpc::ClientContext context;
    v1::CreateJobRequest request;
    *request.mutable_job() = HeldJob(gate);
    const grpc::Status status = jobs_->CreateJob(&context, request, &job);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  gate.AwaitProcess();
  std::vector<std::unique_ptr<Watch>> stalled;
  v1::JobEvent event;
  for (int i = 0; i < kStalled; ++i) {
    stalled.push_back(std::make_unique<Watch>(*jobs_, job.name(), v1::TASK_UPDATES_FULL));
    ASSERT_TRUE(stalled.back()->reader->Read(&event));
    ASSERT_TRUE(event.more_follows());
  }
  // Each is far from the end of the first state, and reads no more.
  AwaitPendingMessages(kStalled);
  const long before = server_->ResidentBytes();

  // Another client's calls go on, over the same connection.
  gate.Open();
  Watch quick(*jobs_, job.name(), v1::TASK_UPDATES_NONE);
  while (quick.reader->Read(&event)) {
    if (event.has_job()) job = event.job();
  }
  EXPECT_TRUE(quick.reader->Finish().ok());
  EXPECT_EQ(job.state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(job.task_counts().succeeded(), kTasks + 1);
  AwaitPendingMessages(kStalled);
  const long growth = server_->ResidentBytes() - before;
  if (kMemoryIsOurs) {
    EXPECT_LT(growth, kMostGrowthBytes);
  }
  RecordProperty("growth_bytes", static_cast<int>(growth));

  // The rest of the first state tells tasks as they are now; then comes what changed.
  std::vector<v1::Task::State> states(kTasks + 1, v1::Task::STATE_UNSPECIFIED);
  std::int64_t told = 0;
  std::int64_t old = 0;
  while (stalled.front()->reader->Read(&event)) {
    told += event.tasks_size();
    for (const v1::Task& task : event.tasks()) {
      states[static_cast<std::size_t>(task.index())] = task.state();
      if (task.state() != v1::Task::STATE_SUCCEEDED) ++old;
    }
  }
  EXPECT_TRUE(stalled.front()->reader->Finish().ok());
  for (int i = 0; i <= kTasks; ++i) {
    ASSERT_EQ(states[static_cast<std::size_t>(i)], v1::Task::STATE_SUCCEEDED) << i;
  }
  EXPECT_LE(told, 2 * (kTasks + 1));
  EXPECT_LT(old, kTasks);
  RecordProperty("tasks_told_before_the_stall", static_cast<int>(old));
  for (const auto& watch : stalled) watch->context.TryCancel();
}

}  // namespace
}  // namespace jackdaw::testing
