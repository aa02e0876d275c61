// The streaming methods: RunJob, WatchJob, ReadOutput, and clients that vanish.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  v1::Job GetJob(const std::string& name) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    EXPECT_TRUE(server_.jobs().GetJob(&context, request, &job).ok());
    return job;
  }

  struct Output {
    grpc::Status status;
    std::string data;
    int pieces = 0;
    std::int64_t total = 0;
  };
  Output Read(const v1::ReadOutputRequest& request) {
    grpc::ClientContext context;
    const auto reader = server_.jobs().ReadOutput(&context, request);
    Output output;
    v1::ReadOutputResponse piece;
    while (reader->Read(&piece)) {
      EXPECT_EQ(piece.offset(), request.offset() + static_cast<std::int64_t>(output.data.size()));
      output.data += piece.data();
      output.total = piece.total_bytes();
      ++output.pieces;
    }
    output.status = reader->Finish();
    return output;
  }

  TestServer server_;
};

TEST_F(StreamTest, RunJobTellsTheWholeStoryInOneCall) {
  grpc::ClientContext context;
  v1::RunJobRequest request;
  AddTask(request.mutable_job(), "a", "echo")->set_payload("x");
  AddTask(request.mutable_job(), "b", "concat", {"a", "a"});
  request.set_task_updates(v1::TASK_UPDATES_FULL);
  request.set_max_output_bytes(100);
  const auto reader = server_.jobs().RunJob(&context, request);
  v1::JobEvent event;
  std::map<std::string, v1::Task> tasks;
  v1::Job last;
  std::int64_t revision = 0;
  while (reader->Read(&event)) {
    if (event.has_job()) last = event.job();
    for (const auto& task : event.tasks()) tasks[task.task_id()] = task;
    EXPECT_GT(event.revision(), revision);
    revision = event.revision();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last.state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(tasks["b"].state(), v1::Task::STATE_SUCCEEDED);
  EXPECT_EQ(tasks["b"].output(), "xx");
}

TEST_F(StreamTest, RunJobFinalOnlyTellsOneEvent) {
  grpc::ClientContext context;
  v1::RunJobRequest request;
  AddTask(request.mutable_job(), "a", "noop");
  request.set_final_only(true);
  const auto reader = server_.jobs().RunJob(&context, request);
  v1::JobEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(StreamTest, RunJobRefusesWhatCreateJobRefuses) {
  grpc::ClientContext context;
  v1::RunJobRequest request;
  AddTask(request.mutable_job(), "a", "nope");
  const auto reader = server_.jobs().RunJob(&context, request);
  v1::JobEvent event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(Describe(reader->Finish()),
            "INVALID_ARGUMENT UNKNOWN_FUNCTION job.tasks[0].function.name");
}

TEST_F(StreamTest, AJobOutlivesTheClientThatRanIt) {
  std::string name;
  {
    grpc::ClientContext context;
    v1::RunJobRequest request;
    AddTask(request.mutable_job(), "a", "gate");
    const auto reader = server_.jobs().RunJob(&context, request);
    v1::JobEvent event;
    ASSERT_TRUE(reader->Read(&event));
    name = event.job().name();
    server_.gate().AwaitArrivals(1);
    context.TryCancel();
    EXPECT_FALSE(reader->Finish().ok());
  }
  EXPECT_EQ(GetJob(name).state(), v1::Job::STATE_RUNNING);
  server_.gate().Open();
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(StreamTest, AJobEndsWithItsClientWhereThatWasAskedFor) {
  std::string name;
  {
    grpc::ClientContext context;
    v1::RunJobRequest request;
    AddTask(request.mutable_job(), "a", "gate");
    request.set_cancel_on_disconnect(true);
    const auto reader = server_.jobs().RunJob(&context, request);
    v1::JobEvent event;
    ASSERT_TRUE(reader->Read(&event));
    name = event.job().name();
    context.TryCancel();
    EXPECT_FALSE(reader->Finish().ok());
  }
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_CANCELLED);
}

TEST_F(StreamTest, AWatcherThatVanishesLeavesTheJobAlone) {
  v1::Job job;
  AddTask(&job, "a", "gate");
  const std::string name = server_.Create(job);
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_name(name);
    const auto reader = server_.jobs().WatchJob(&context, request);
    v1::JobEvent event;
    ASSERT_TRUE(reader->Read(&event));
    context.TryCancel();
    EXPECT_FALSE(reader->Finish().ok());
  }
  server_.gate().Open();
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(StreamTest, AWatcherSeesTheStateOfEveryTaskThenTheEnd) {
  constexpr int kTasks = 150'000;  // More than one event holds.
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(kTasks);
  AddTask(&job, "hold", "gate");
  const std::string name = server_.Create(job);
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_name(name);
  request.set_task_updates(v1::TASK_UPDATES_STATES);
  const auto reader = server_.jobs().WatchJob(&context, request);
  std::map<int, v1::Task::State> states;
  v1::JobEvent event;
  int partial = 0;
  v1::Job last;
  while (reader->Read(&event)) {
    if (event.resync()) states.clear();
    ASSERT_EQ(event.task_indices_size(), event.task_states_size());
    for (int i = 0; i < event.task_indices_size(); ++i) {
      states[event.task_indices(i)] = static_cast<v1::Task::State>(event.task_states(i));
    }
    partial += event.more_follows() ? 1 : 0;
    EXPECT_EQ(event.more_follows(), event.revision() == 0);
    if (event.has_job()) last = event.job();
    if (!event.more_follows()) server_.gate().Open();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last.state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_GE(partial, 2);
  ASSERT_EQ(states.size(), static_cast<std::size_t>(kTasks) + 1);
  for (const auto& [index, state] : states) ASSERT_EQ(state, v1::Task::STATE_SUCCEEDED) << index;
}

TEST_F(StreamTest, AWatcherResumesFromTheRevisionItSaw) {
  v1::Job job;
  AddTask(&job, "a", "noop");
  AddTask(&job, "b", "gate");
  const std::string name = server_.Create(job);
  server_.gate().AwaitArrivals(1);
  v1::WatchJobRequest request;
  request.set_name(name);
  request.set_task_updates(v1::TASK_UPDATES_FULL);
  v1::JobEvent event;
  {
    grpc::ClientContext context;
    const auto reader = server_.jobs().WatchJob(&context, request);
    ASSERT_TRUE(reader->Read(&event));
    EXPECT_TRUE(event.resync());
    context.TryCancel();
    while (reader->Read(&event)) {
    }
    EXPECT_FALSE(reader->Finish().ok());
  }
  request.set_revision(GetJob(name).revision());
  server_.gate().Open();
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_SUCCEEDED);
  grpc::ClientContext context;
  const auto reader = server_.jobs().WatchJob(&context, request);
  std::map<std::string, v1::Task> changed;
  while (reader->Read(&event)) {
    EXPECT_FALSE(event.resync());
    for (const auto& task : event.tasks()) changed[task.task_id()] = task;
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(changed.count("b"), 1u);
}

TEST_F(StreamTest, WatchingWhatDoesNotExistIsRefused) {
  const auto watch = [&](const v1::WatchJobRequest& request) {
    grpc::ClientContext context;
    return Describe(server_.jobs().WatchJob(&context, request)->Finish());
  };
  v1::WatchJobRequest request;
  EXPECT_EQ(watch(request), "INVALID_ARGUMENT INVALID_NAME name");
  request.set_name("jobs/none");
  EXPECT_EQ(watch(request), "NOT_FOUND JOB_NOT_FOUND");
  request.set_revision(-1);
  EXPECT_EQ(watch(request), "INVALID_ARGUMENT INVALID_FIELD revision");
}

TEST_F(StreamTest, OutputIsReadInPiecesFromAnyOffset) {
  std::string payload;
  for (int i = 0; i < 700'000; ++i) payload += static_cast<char>(i * 7);
  v1::Job job;
  AddTask(&job, "a", "echo")->set_payload(payload);
  AddTask(&job, "empty", "noop");
  const std::string name = server_.Create(job);
  server_.AwaitEnd(name);
  v1::ReadOutputRequest request;
  request.set_name(name + "/tasks/a");
  Output all = Read(request);
  EXPECT_TRUE(all.status.ok());
  EXPECT_EQ(all.data, payload);
  EXPECT_EQ(all.pieces, 3);
  EXPECT_EQ(all.total, 700'000);
  request.set_offset(1000);
  request.set_limit(500'000);
  EXPECT_EQ(Read(request).data, payload.substr(1000, 500'000));
  request.set_offset(700'000);
  EXPECT_EQ(Read(request).data, "");
  request.set_offset(700'001);
  EXPECT_EQ(Describe(Read(request).status), "OUT_OF_RANGE OFFSET_PAST_END");
  request.set_offset(-1);
  EXPECT_EQ(Describe(Read(request).status), "INVALID_ARGUMENT INVALID_FIELD offset");
  request = {};
  request.set_name(name + "/tasks/empty");
  const Output empty = Read(request);
  EXPECT_TRUE(empty.status.ok());
  EXPECT_EQ(empty.pieces, 1);
}

TEST_F(StreamTest, OutputThatIsNotThereIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "fail");
  const std::string name = server_.Create(job);
  server_.AwaitEnd(name);
  v1::ReadOutputRequest request;
  request.set_name(name + "/tasks/a");
  EXPECT_EQ(Describe(Read(request).status), "FAILED_PRECONDITION TASK_NOT_SUCCEEDED");
  request.set_source(v1::ReadOutputRequest::SOURCE_LOG);
  EXPECT_TRUE(Read(request).status.ok());
  request.set_attempt(7);
  EXPECT_EQ(Describe(Read(request).status), "NOT_FOUND ATTEMPT_NOT_FOUND");
}

// A watcher that reads nothing while a large job changes a hundred thousand times costs the
// server no more than one event: it gets what it missed together.
TEST_F(StreamTest, ASlowWatcherMissesStatesInBetweenNotTheLast) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(100'000);
  AddTask(&job, "hold", "gate");
  const std::string name = server_.Create(job);
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_name(name);
  request.set_task_updates(v1::TASK_UPDATES_FULL);
  const auto reader = server_.jobs().WatchJob(&context, request);
  reader->WaitForInitialMetadata();
  server_.gate().Open();
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_SUCCEEDED);
  v1::JobEvent event;
  std::map<int, v1::Task::State> states;
  std::int64_t told = 0;
  while (reader->Read(&event)) {
    for (const auto& task : event.tasks()) states[task.index()] = task.state();
    told += event.tasks_size();
  }
  EXPECT_TRUE(reader->Finish().ok());
  ASSERT_EQ(states.size(), 100'001u);
  for (const auto& [index, state] : states) ASSERT_EQ(state, v1::Task::STATE_SUCCEEDED) << index;
  EXPECT_LE(told, 3 * 100'001);
}

TEST(CommandStreamTest, TheLogOfACommandIsItsStandardError) {
  for (const bool over_tcp : {false, true}) {
    TestServer server([&](ServerOptions& options) {
      options.commands.allow_all = true;
      if (over_tcp) options.listen = {"127.0.0.1:0"};
    });
    v1::Job job;
    v1::Task* task = job.add_tasks();
    for (const char* word : {"sh", "-c", "cat; echo oops >&2"}) {
      task->mutable_command()->add_argv(word);
    }
    task->mutable_command()->set_stdin(v1::CommandAction::STDIN_PAYLOAD);
    task->set_payload("in");
    const std::string name = server.Create(job);
    EXPECT_EQ(server.AwaitEnd(name).state(), v1::Job::STATE_SUCCEEDED);
    v1::ReadOutputRequest request;
    request.set_name(name + "/tasks/0");
    for (const auto& [source, expected] :
         {std::pair{v1::ReadOutputRequest::SOURCE_OUTPUT, "in"},
          std::pair{v1::ReadOutputRequest::SOURCE_LOG, "oops\n"}}) {
      grpc::ClientContext context;
      request.set_source(source);
      const auto reader = server.jobs().ReadOutput(&context, request);
      v1::ReadOutputResponse piece;
      ASSERT_TRUE(reader->Read(&piece));
      EXPECT_EQ(piece.data(), expected);
    }
  }
}

}  // namespace
}  // namespace jackdaw
