// Whatever a client sends, it gets a clear error that names the field, nothing is left
// behind, and the server goes on.

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

class BadInputTest : public ::testing::Test {
 protected:
  grpc::Status Create(const v1::Job& job) {
    grpc::ClientContext context;
    v1::CreateJobRequest request;
    *request.mutable_job() = job;
    v1::Job created;
    return server_.jobs().CreateJob(&context, request, &created);
  }

  // No job was left behind and a good one still runs.
  void TearDown() override {
    grpc::ClientContext context;
    v1::ListJobsResponse listed;
    ASSERT_TRUE(server_.jobs().ListJobs(&context, v1::ListJobsRequest(), &listed).ok());
    EXPECT_EQ(listed.jobs_size(), 0);
    v1::Job good;
    AddTask(&good, "a", "noop");
    EXPECT_EQ(server_.AwaitEnd(server_.Create(good)).state(), v1::Job::STATE_SUCCEEDED);
  }

  // Bytes as the request of a unary method.
  grpc::Status Send(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(server_.channel());
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::Slice slice(bytes);
    grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::Status status;
    const auto reader = stub.PrepareUnaryCall(&context, method, request, &queue);
    reader->StartCall();
    reader->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status;
  }

  TestServer server_;
};

TEST_F(BadInputTest, ACycleIsNamedNodeByNode) {
  v1::Job job;
  AddTask(&job, "a", "noop", {"c"});
  AddTask(&job, "b", "noop", {"a"});
  AddTask(&job, "c", "noop", {"b"});
  const grpc::Status status = Create(job);
  EXPECT_THAT(Describe(status), HasSubstr("INVALID_ARGUMENT DEPENDENCY_CYCLE job.tasks["));
  const std::string cycle = DetailsOf(status).info.metadata().at("cycle");
  EXPECT_THAT(
      (std::vector<std::string>{"a -> c -> b -> a", "c -> b -> a -> c", "b -> a -> c -> b"}),
      ::testing::Contains(cycle));
  EXPECT_THAT(status.error_message(), HasSubstr(cycle));
}

TEST_F(BadInputTest, ACycleInAnArrayIsNamedByIndex) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(2);
  for (const int index : {1, 0}) {
    array->add_dependency_counts(1);
    array->add_dependency_indices(index);
  }
  const grpc::Status status = Create(job);
  EXPECT_THAT(Describe(status),
              HasSubstr("DEPENDENCY_CYCLE job.task_arrays[0].dependency_indices["));
}

TEST_F(BadInputTest, ATaskThatDependsOnItselfIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop", {"a"});
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT SELF_DEPENDENCY job.tasks[0].after[0]");
}

TEST_F(BadInputTest, AnUnknownDependencyIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop");
  AddTask(&job, "b", "noop", {"a", "x"});
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT UNKNOWN_DEPENDENCY job.tasks[1].after[1]");
  job.mutable_tasks(1)->clear_after();
  job.mutable_tasks(1)->add_after_indices(2);
  EXPECT_EQ(Describe(Create(job)),
            "INVALID_ARGUMENT UNKNOWN_DEPENDENCY job.tasks[1].after_indices[0]");
}

TEST_F(BadInputTest, ADuplicateIdIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop");
  AddTask(&job, "a", "noop");
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT DUPLICATE_TASK_ID job.tasks[1].task_id");
}

TEST_F(BadInputTest, AnUnknownFunctionOrRunnerIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "nope");
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT UNKNOWN_FUNCTION job.tasks[0].function.name");
  job.mutable_tasks(0)->mutable_function()->set_name("noop");
  job.mutable_tasks(0)->set_runner("gpu");
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT UNKNOWN_RUNNER job.tasks[0].runner");
}

TEST_F(BadInputTest, ATaskWithoutActionIsRefused) {
  v1::Job job;
  job.add_tasks();
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT NO_ACTION job.tasks[0].action");
}

TEST_F(BadInputTest, ANegativeOrHugeTimeoutIsRefused) {
  v1::Job job;
  v1::Task* task = AddTask(&job, "a", "noop");
  for (const std::int64_t seconds :
       {std::int64_t{-1}, std::int64_t{400} * 24 * 3600, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    task->mutable_attempt_timeout()->set_seconds(seconds);
    EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.tasks[0].attempt_timeout");
  }
  task->clear_attempt_timeout();
  job.mutable_timeout()->set_nanos(-1);
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.timeout");
}

TEST_F(BadInputTest, ARetryPolicyOutOfRangeIsRefusedFieldByField) {
  v1::Job job;
  v1::RetryPolicy* retry = AddTask(&job, "a", "noop")->mutable_retry_policy();
  retry->set_max_attempts(-1);
  retry->set_multiplier(std::numeric_limits<double>::quiet_NaN());
  retry->set_jitter(2);
  retry->mutable_max_backoff()->set_seconds(-5);
  retry->add_codes(google::rpc::OK);
  const ErrorDetails details = DetailsOf(Create(job));
  EXPECT_THAT(details.fields,
              ::testing::UnorderedElementsAre(
                  "job.tasks[0].retry_policy.max_attempts", "job.tasks[0].retry_policy.multiplier",
                  "job.tasks[0].retry_policy.jitter", "job.tasks[0].retry_policy.max_backoff",
                  "job.tasks[0].retry_policy.codes[0]"));
}

TEST_F(BadInputTest, ACommandIsRefusedWhereTheyAreOff) {
  v1::Job job;
  job.add_tasks()->mutable_command()->add_argv("true");
  const grpc::Status status = Create(job);
  EXPECT_EQ(Describe(status), "PERMISSION_DENIED COMMAND_NOT_ALLOWED");
  EXPECT_THAT(status.error_message(), HasSubstr("job.tasks[0].command"));
}

TEST_F(BadInputTest, AnEmptyCommandIsRefused) {
  v1::Job job;
  job.add_tasks()->mutable_command();
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT EMPTY_COMMAND job.tasks[0].command.argv");
}

TEST_F(BadInputTest, TenMillionDependenciesOnOneTaskAreRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop");
  v1::Task* greedy = AddTask(&job, "b", "noop");
  greedy->mutable_after_indices()->Resize(10'000'000, 0);
  const grpc::Status status = Create(job);
  EXPECT_EQ(Describe(status), "INVALID_ARGUMENT TOO_MANY_DEPENDENCIES job.tasks[1].after_indices");
  EXPECT_THAT(status.error_message(), HasSubstr("10000000"));
  EXPECT_THAT(status.error_message(), HasSubstr("1048576"));
}

TEST_F(BadInputTest, AMessageOverTheLimitIsRefusedWithTheLimit) {
  v1::Job job;
  AddTask(&job, "a", "noop")->set_payload(std::string(40 << 20, 'x'));
  const grpc::Status status = Create(job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("33554432"));
}

TEST_F(BadInputTest, APayloadOverTheLimitIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop")->set_payload(std::string((4 << 20) + 1, 'x'));
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT PAYLOAD_TOO_LARGE job.tasks[0].payload");
}

TEST_F(BadInputTest, AnArrayWhoseColumnsDisagreeIsRefused) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.task_arrays[0].count");
  array->set_count(3);
  array->add_dependency_counts(1);
  EXPECT_EQ(Describe(Create(job)),
            "INVALID_ARGUMENT INVALID_FIELD job.task_arrays[0].dependency_counts");
  array->add_dependency_counts(0);
  array->add_dependency_counts(0);
  EXPECT_EQ(Describe(Create(job)),
            "INVALID_ARGUMENT INVALID_FIELD job.task_arrays[0].dependency_indices");
  array->set_dependency_counts(0, -1);
  EXPECT_EQ(Describe(Create(job)),
            "INVALID_ARGUMENT TOO_MANY_DEPENDENCIES job.task_arrays[0].dependency_counts[0]");
  array->set_count(std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.task_arrays[0].count");
}

TEST_F(BadInputTest, IdsOutOfFormAreRefused) {
  for (const char* id : {"12", "a b", "a/b", "\xc3\xa4"}) {
    v1::Job job;
    AddTask(&job, id, "noop");
    EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.tasks[0].task_id") << id;
  }
}

TEST_F(BadInputTest, AnIdThatIsNotUtf8IsNamed) {
  v1::CreateJobRequest request;
  AddTask(request.mutable_job(), "good", "noop");
  AddTask(request.mutable_job(), "XY", "noop");
  std::string bytes = request.SerializeAsString();
  bytes.replace(bytes.find("XY"), 2, "\xff\xfe");
  const grpc::Status status = Send("/jackdaw.v1.JobService/CreateJob", bytes);
  EXPECT_EQ(Describe(status), "INVALID_ARGUMENT MALFORMED_MESSAGE job.tasks[1].task_id");
  EXPECT_THAT(status.error_message(), HasSubstr("UTF-8"));
}

TEST_F(BadInputTest, AMessageThatDoesNotParseIsRefused) {
  EXPECT_EQ(Describe(Send("/jackdaw.v1.JobService/GetJob", "\x0a\xff\xff\xff\xff\x0f")),
            "INVALID_ARGUMENT MALFORMED_MESSAGE name");
  EXPECT_THAT(Describe(Send("/jackdaw.v1.JobService/CreateJob", std::string(100, '\xff'))),
              HasSubstr("INVALID_ARGUMENT MALFORMED_MESSAGE"));
  EXPECT_THAT(Describe(Send("/jackdaw.v1.JobService/RunJob", std::string("\x0a\x05"
                                                                         "abc",
                                                                         5))),
              HasSubstr("INVALID_ARGUMENT MALFORMED_MESSAGE job"));
}

TEST_F(BadInputTest, AnUnknownEnumValueIsRefused) {
  v1::Job job;
  AddTask(&job, "a", "noop")->set_run_if(static_cast<v1::RunIf>(77));
  EXPECT_EQ(Describe(Create(job)), "INVALID_ARGUMENT INVALID_FIELD job.tasks[0].run_if");
}

TEST_F(BadInputTest, AllThatIsWrongIsToldAtOnce) {
  v1::Job job;
  for (int i = 0; i < 100; ++i) job.add_tasks()->mutable_function()->set_name("nope");
  const grpc::Status status = Create(job);
  EXPECT_EQ(DetailsOf(status).fields.size(), 20u);
  EXPECT_THAT(status.error_message(), HasSubstr("more"));
}

}  // namespace
}  // namespace jackdaw
