// The end of a server: running jobs finish, new ones are refused, the rest is cancelled.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

namespace reflection = grpc::reflection::v1;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckResponse;

v1::Job Gated() {
  v1::Job job;
  AddTask(&job, "a", "gate");
  return job;
}

TEST(DrainTest, NewJobsAreRefusedAndToldToComeBack) {
  TestServer server;
  server.server().BeginDrain();
  {
    grpc::ClientContext context;
    v1::CreateJobRequest request;
    *request.mutable_job() = Gated();
    v1::Job job;
    const grpc::Status status = server.jobs().CreateJob(&context, request, &job);
    EXPECT_EQ(Describe(status), "UNAVAILABLE SERVER_DRAINING");
    EXPECT_TRUE(DetailsOf(status).has_retry);
  }
  {
    grpc::ClientContext context;
    v1::RunJobRequest request;
    *request.mutable_job() = Gated();
    EXPECT_EQ(Describe(server.jobs().RunJob(&context, request)->Finish()),
              "UNAVAILABLE SERVER_DRAINING");
  }
  grpc::ClientContext context;
  v1::Server info;
  ASSERT_TRUE(server.info().GetServer(&context, {}, &info).ok());
  EXPECT_TRUE(info.draining());
}

TEST(DrainTest, ARunningJobFinishesAndItsWatcherLearnsHow) {
  TestServer server;
  grpc::ClientContext context;
  v1::RunJobRequest request;
  *request.mutable_job() = Gated();
  const auto reader = server.jobs().RunJob(&context, request);
  v1::JobEvent event;
  ASSERT_TRUE(reader->Read(&event));
  server.gate().AwaitArrivals(1);
  std::thread stopping([&] { server.server().Stop(absl::Seconds(60)); });
  server.gate().Open();
  v1::Job last;
  while (reader->Read(&event)) {
    if (event.has_job()) last = event.job();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last.state(), v1::Job::STATE_SUCCEEDED);
  stopping.join();
}

TEST(DrainTest, WhatDoesNotFinishInTimeIsCancelled) {
  TestServer server;
  grpc::ClientContext context;
  v1::RunJobRequest request;
  *request.mutable_job() = Gated();
  const auto reader = server.jobs().RunJob(&context, request);
  v1::JobEvent event;
  ASSERT_TRUE(reader->Read(&event));
  server.gate().AwaitArrivals(1);
  server.server().Stop(absl::Milliseconds(1));
  v1::Job last;
  while (reader->Read(&event)) {
    if (event.has_job()) last = event.job();
  }
  EXPECT_EQ(last.state(), v1::Job::STATE_CANCELLED);
}

// Streams of every kind on a connection of their own, each past its first answer.
struct Streams {
  explicit Streams(const std::shared_ptr<grpc::Channel>& channel)
      : jobs(v1::JobService::NewStub(channel)),
        health(Health::NewStub(channel)),
        descriptions(reflection::ServerReflection::NewStub(channel)) {
    v1::RunJobRequest request;
    *request.mutable_job() = Gated();
    run = jobs->RunJob(&contexts[0], request);
    v1::JobEvent event;
    EXPECT_TRUE(run->Read(&event));
    v1::WatchJobRequest watched;
    watched.set_name(event.job().name());
    watch = jobs->WatchJob(&contexts[1], watched);
    EXPECT_TRUE(watch->Read(&event));
    probe = health->Watch(&contexts[2], {});
    EXPECT_TRUE(probe->Read(&serving));
    questions = descriptions->ServerReflectionInfo(&contexts[3]);
    reflection::ServerReflectionRequest question;
    question.set_list_services("");
    reflection::ServerReflectionResponse answer;
    EXPECT_TRUE(questions->Write(question));
    EXPECT_TRUE(questions->Read(&answer));
  }

  std::array<grpc::ClientContext, 4> contexts;
  std::unique_ptr<v1::JobService::Stub> jobs;
  std::unique_ptr<Health::Stub> health;
  std::unique_ptr<reflection::ServerReflection::Stub> descriptions;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> run;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> watch;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> probe;
  HealthCheckResponse serving;
  std::unique_ptr<grpc::ClientReaderWriter<reflection::ServerReflectionRequest,
                                           reflection::ServerReflectionResponse>>
      questions;
};

TEST(DrainTest, StopEndsEveryKindOfStreamThatIsUnderWay) {
  constexpr int kConnections = 8;  // So that each queue has some.
  TestServer server;
  std::vector<std::unique_ptr<Streams>> all;
  for (int i = 0; i < kConnections; ++i) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    all.push_back(std::make_unique<Streams>(
        grpc::CreateCustomChannel(server.address(), grpc::InsecureChannelCredentials(), own)));
  }
  server.gate().AwaitArrivals(kConnections);
  server.server().Stop(absl::ZeroDuration());
  for (const auto& streams : all) {
    for (auto* reader : {streams->run.get(), streams->watch.get()}) {
      v1::JobEvent event;
      v1::Job last;
      while (reader->Read(&event)) {
        if (event.has_job()) last = event.job();
      }
      EXPECT_TRUE(reader->Finish().ok());
      EXPECT_EQ(last.state(), v1::Job::STATE_CANCELLED);
    }
    while (streams->probe->Read(&streams->serving)) {
    }
    EXPECT_EQ(streams->serving.status(), HealthCheckResponse::NOT_SERVING);
    EXPECT_FALSE(streams->probe->Finish().ok());
    EXPECT_FALSE(streams->questions->Finish().ok());
  }
}

TEST(DrainTest, StopIsIdempotentAndNeedsNoStart) {
  ServerOptions options;
  Server never_started(options);
  never_started.Stop(absl::ZeroDuration());
  TestServer server;
  server.server().Stop(absl::ZeroDuration());
  server.server().Stop(absl::ZeroDuration());
}

}  // namespace
}  // namespace jackdaw
