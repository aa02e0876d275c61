// The end of a server: running jobs finish, new ones are refused, the rest is cancelled.

#include <gtest/gtest.h>

#include <thread>

#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

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
