// The client against a server that fails as the test says: what is tried again, how often,
// and under which request_id.

#include "client/cpp/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "client/cpp/errors.h"
#include "client/cpp/job_builder.h"
#include "tests/client/fake_service.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "going away");

v1::Job OneTask() {
  JobBuilder job("one");
  job.Function("noop");
  return job.Take();
}

v1::JobEvent Event(std::int64_t revision, v1::Job::State state) {
  v1::JobEvent event;
  event.set_revision(revision);
  event.mutable_job()->set_name("jobs/a");
  event.mutable_job()->set_state(state);
  return event;
}

TEST(ClientTest, UnavailableIsTriedAgainUnderTheSameRequestId) {
  FakeServer server;
  server.service.on_create = [](int call, const v1::CreateJobRequest&, v1::Job* job) {
    job->set_name("jobs/a");
    return call < 3 ? kUnavailable : grpc::Status::OK;
  };
  const auto job = server.Connect()->CreateJob(OneTask());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->name(), "jobs/a");
  const auto ids = server.service.request_ids();
  ASSERT_THAT(ids, SizeIs(3));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(1));
  EXPECT_THAT(ids[0], SizeIs(32));
}

TEST(ClientTest, EveryCallHasARequestIdOfItsOwn) {
  FakeServer server;
  server.service.on_create = [](int, const v1::CreateJobRequest&, v1::Job*) {
    return grpc::Status::OK;
  };
  const auto client = server.Connect();
  ASSERT_TRUE(client->CreateJob(OneTask()).ok());
  ASSERT_TRUE(client->CreateJob(OneTask()).ok());
  ASSERT_TRUE(client->CreateJob(OneTask(), {.job_id = "", .request_id = "mine"}).ok());
  const auto ids = server.service.request_ids();
  ASSERT_THAT(ids, SizeIs(3));
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(ids[2], "mine");
}

TEST(ClientTest, WaitsGrowAndStayWithinTheJitter) {
  FakeServer server;
  server.service.on_get = [](int, v1::Job*) { return kUnavailable; };
  Client::Options options;
  options.retry = {.attempts = 4,
                   .initial_backoff = absl::Milliseconds(100),
                   .max_backoff = absl::Milliseconds(300),
                   .multiplier = 2,
                   .jitter = 0.5};
  const auto job = server.Connect(std::move(options))->GetJob("a");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kUnavailable);
  const auto waits = server.waits();
  ASSERT_THAT(waits, SizeIs(3)) << "four attempts";
  const std::vector<int> middle_ms = {100, 200, 300};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    EXPECT_THAT(waits[i], Ge(absl::Milliseconds(middle_ms[i]) * 0.5));
    EXPECT_THAT(waits[i], Le(absl::Milliseconds(middle_ms[i]) * 1.5));
  }
}

TEST(ClientTest, OtherErrorsAreFinal) {
  FakeServer server;
  server.service.on_get = [](int, v1::Job*) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no job a");
  };
  const auto job = server.Connect()->GetJob("a");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(server.waits(), IsEmpty());
}

TEST(ClientTest, NoAttemptBeginsAfterTheDeadline) {
  FakeServer server;
  server.service.on_get = [](int, v1::Job*) { return kUnavailable; };
  Client::Options options;
  options.deadline = absl::Seconds(60);
  options.retry.initial_backoff = absl::Seconds(600);
  options.retry.max_backoff = absl::Seconds(600);
  const auto job = server.Connect(std::move(options))->GetJob("a");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(server.waits(), IsEmpty());
}

TEST(ClientTest, DeleteThatIsRepeatedMayFindNothing) {
  FakeServer server;
  server.service.on_delete = [](int call) {
    return call == 1 ? kUnavailable : grpc::Status(grpc::StatusCode::NOT_FOUND, "gone");
  };
  EXPECT_TRUE(server.Connect()->DeleteJob("a").ok());
}

TEST(ClientTest, ReadingGoesOnWhereItWasInterrupted) {
  FakeServer server;
  server.service.on_read = [](int call, const v1::ReadOutputRequest& request,
                              grpc::ServerWriter<v1::ReadOutputResponse>* pieces) {
    const std::string whole = "0123456789";
    v1::ReadOutputResponse piece;
    const auto offset = static_cast<std::size_t>(request.offset());
    piece.set_data(whole.substr(offset, call == 1 ? 4 : std::string::npos));
    pieces->Write(piece);
    return call == 1 ? kUnavailable : grpc::Status::OK;
  };
  std::string text;
  const auto read = server.Connect()->ReadOutput(
      "a", "t", {}, [&](absl::string_view piece) { text.append(piece.data(), piece.size()); });
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(text, "0123456789");
  EXPECT_EQ(*read, 10);
}

TEST(JobWatchTest, RunIsRepeatedUnderItsRequestIdUntilTheNameIsKnown) {
  FakeServer server;
  server.service.on_run = [](int call, const v1::RunJobRequest& request,
                             FakeJobService::Events* events) {
    EXPECT_TRUE(request.final_only());
    if (call < 3) return kUnavailable;
    events->Write(Event(7, v1::Job::STATE_SUCCEEDED));
    return grpc::Status::OK;
  };
  const auto job = server.Connect()->RunJob(OneTask());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::STATE_SUCCEEDED);
  const auto ids = server.service.request_ids();
  ASSERT_THAT(ids, SizeIs(3));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(1));
}

TEST(JobWatchTest, GoesOnFromItsRevisionAfterAnInterruption) {
  FakeServer server;
  server.service.on_run = [](int, const v1::RunJobRequest&, FakeJobService::Events* events) {
    events->Write(Event(3, v1::Job::STATE_RUNNING));
    v1::JobEvent half = Event(0, v1::Job::STATE_RUNNING);
    half.set_more_follows(true);  // Not the whole of revision 5: it does not count.
    events->Write(half);
    return kUnavailable;
  };
  std::vector<std::int64_t> revisions;
  server.service.on_watch = [&](int call, const v1::WatchJobRequest& request,
                                FakeJobService::Events* events, grpc::ServerContext*) {
    EXPECT_EQ(request.name(), "jobs/a");
    EXPECT_EQ(request.task_updates(), v1::TASK_UPDATES_STATES);
    revisions.push_back(request.revision());
    events->Write(Event(5 + call, call == 1 ? v1::Job::STATE_RUNNING : v1::Job::STATE_FAILED));
    return call == 1 ? kUnavailable : grpc::Status::OK;
  };
  Client::RunOptions options;
  options.task_updates = v1::TASK_UPDATES_STATES;
  const auto job = server.Connect()->RunJob(OneTask(), options);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::STATE_FAILED) << "a failed job is no error of the call";
  EXPECT_THAT(revisions, ElementsAre(3, 6));
  EXPECT_THAT(server.service.request_ids(), SizeIs(1)) << "the job was created once";
}

TEST(JobWatchTest, ProgressForgivesEarlierInterruptions) {
  FakeServer server;
  server.service.on_watch = [](int call, const v1::WatchJobRequest&, FakeJobService::Events* events,
                               grpc::ServerContext*) {
    events->Write(Event(call, call == 20 ? v1::Job::STATE_SUCCEEDED : v1::Job::STATE_RUNNING));
    return call == 20 ? grpc::Status::OK : kUnavailable;
  };
  const auto client = server.Connect();
  const auto watch = client->WatchJob("a", {});
  v1::JobEvent event;
  int events = 0;
  while (watch->Next(event).value()) ++events;
  EXPECT_EQ(events, 20);
}

TEST(JobWatchTest, StreamThatEndsEarlyIsAnInterruption) {
  FakeServer server;
  server.service.on_watch = [](int call, const v1::WatchJobRequest&, FakeJobService::Events* events,
                               grpc::ServerContext*) {
    events->Write(Event(call, call == 2 ? v1::Job::STATE_SUCCEEDED : v1::Job::STATE_RUNNING));
    return grpc::Status::OK;
  };
  const auto client = server.Connect();
  const auto watch = client->WatchJob("a", {});
  v1::JobEvent event;
  while (watch->Next(event).value()) {
  }
  EXPECT_EQ(event.job().state(), v1::Job::STATE_SUCCEEDED);
}

TEST(JobWatchTest, CancelEndsAWaitingReader) {
  FakeServer server;
  server.service.on_watch = [](int, const v1::WatchJobRequest&, FakeJobService::Events* events,
                               grpc::ServerContext* context) {
    events->Write(Event(1, v1::Job::STATE_RUNNING));
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::CANCELLED;
  };
  const auto client = server.Connect();
  const auto watch = client->WatchJob("a", {});
  v1::JobEvent event;
  ASSERT_TRUE(watch->Next(event).value());
  std::thread canceller([&] { watch->Cancel(); });
  EXPECT_EQ(watch->Next(event).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(watch->Next(event).status().code(), absl::StatusCode::kCancelled);
  canceller.join();
}

TEST(JobWatchTest, WatchThatIsDroppedEndsItsStream) {
  FakeServer server;
  std::atomic<bool> ended = false;
  server.service.on_watch = [&](int, const v1::WatchJobRequest&, FakeJobService::Events* events,
                                grpc::ServerContext* context) {
    events->Write(Event(1, v1::Job::STATE_RUNNING));
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    ended = true;
    return grpc::Status::CANCELLED;
  };
  const auto client = server.Connect();
  {
    const auto watch = client->WatchJob("a", {});
    v1::JobEvent event;
    ASSERT_TRUE(watch->Next(event).value());
  }
  while (!ended) absl::SleepFor(absl::Milliseconds(1));
}

TEST(ClientTest, NobodyThereIsUnavailableAndNamesTheAddress) {
  Client::Options options;
  options.address = "unix:/nowhere/jackdaw.sock";
  options.retry.attempts = 1;
  const auto job = Client::Connect(std::move(options)).value()->GetJob("a");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(job.status().message()), HasSubstr("unix:/nowhere/jackdaw.sock"));
}

TEST(ClientTest, WrongAddressIsRefusedBeforeAnyCall) {
  Client::Options options;
  options.address = "http://example.org";
  EXPECT_EQ(Client::Connect(std::move(options)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace jackdaw
