// From messages to graphs and back, without a server.

#include "server/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jackdaw/v1/job.pb.h"
#include "scheduler/exec/functions.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConvertTest : public ::testing::Test {
 protected:
  ConvertTest() : commands_(Commands::Options{}) {
    for (const char* name : {"f", "g"}) {
      EXPECT_TRUE(functions_.Register(name, [](Attempt&) { return Bytes(); }).ok());
    }
    catalog_ = {&functions_, &commands_, &limits_, {"compute", "io"}, true};
  }

  v1::Task* Add(const std::string& id, const std::string& function = "f") {
    v1::Task* task = job_.add_tasks();
    task->set_task_id(id);
    task->mutable_function()->set_name(function);
    return task;
  }
  GraphRequest Convert() {
    absl::StatusOr<GraphRequest> graph = ToGraph(catalog_, &job_);
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *std::move(graph) : GraphRequest();
  }
  std::string Refusal() { return std::string(ToGraph(catalog_, &job_).status().message()); }

  Functions functions_;
  Commands commands_;
  ServerLimits limits_;
  Catalog catalog_;
  v1::Job job_;
};

TEST_F(ConvertTest, NamesAndIndicesBecomePlacesInTheBatch) {
  Add("a");
  Add("b")->add_after("c");  // A dependency may come later.
  v1::Task* c = Add("c");
  c->add_after("a");
  c->add_after_indices(0);
  const GraphRequest graph = Convert();
  EXPECT_THAT(graph.batch.dependency_count, ElementsAre(0, 1, 2));
  EXPECT_THAT(graph.batch.dependencies,
              ElementsAre(TaskBatch::InBatch(2), TaskBatch::InBatch(0), TaskBatch::InBatch(0)));
  EXPECT_THAT(graph.batch.ids, ElementsAre("a", "b", "c"));
}

TEST_F(ConvertTest, TasksOfOneKindShareIt) {
  Add("a");
  Add("b", "g");
  Add("c");
  Add("d")->set_run_if(v1::RUN_IF_ALL_DONE);
  Add("e")->set_run_if(v1::RUN_IF_ALL_DONE);
  const GraphRequest graph = Convert();
  EXPECT_EQ(graph.batch.kinds.size(), 3u);
  EXPECT_THAT(graph.batch.kind, ElementsAre(0, 1, 0, 2, 2));
  EXPECT_EQ(graph.batch.kinds[2].policy.run_if, RunIf::kAllDone);
}

TEST_F(ConvertTest, AnArrayFollowsTheSingleTasks) {
  Add("a");
  v1::TaskArray* array = job_.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("g");
  array->mutable_prototype()->set_payload("shared");
  array->set_count(3);
  for (const int count : {1, 0, 2}) array->add_dependency_counts(count);
  for (const int index : {0, 1, 0}) array->add_dependency_indices(index);
  for (const char* payload : {"", "own", ""}) array->add_payloads(payload);
  const GraphRequest graph = Convert();
  EXPECT_THAT(graph.batch.kind, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(graph.batch.dependency_count, ElementsAre(0, 1, 0, 2));
  ASSERT_EQ(graph.batch.payloads.size(), 4u);
  EXPECT_EQ(graph.batch.payloads[0].view(), "");
  EXPECT_EQ(graph.batch.payloads[1].view(), "shared");
  EXPECT_EQ(graph.batch.payloads[2].view(), "own");
  EXPECT_EQ(graph.batch.payloads[3].view(), "shared");
}

TEST_F(ConvertTest, PoliciesKeepTheirDefaultsWhereNothingIsSaid) {
  Add("a");
  const TaskPolicy policy = Convert().batch.kinds[0].policy;
  EXPECT_EQ(policy.retry.max_attempts, 1);
  EXPECT_EQ(policy.retry.initial_backoff, absl::Milliseconds(100));
  EXPECT_EQ(policy.retry.multiplier, 2);
  EXPECT_EQ(policy.attempt_timeout, absl::ZeroDuration());
  EXPECT_EQ(policy.priority, Priority::kNormal);
}

TEST_F(ConvertTest, PoliciesAreTakenOverFieldByField) {
  job_.set_priority(v1::PRIORITY_LOW);
  job_.set_failure_policy(v1::FAILURE_POLICY_FAIL_FAST);
  job_.mutable_timeout()->set_seconds(9);
  v1::Task* task = Add("a");
  task->set_runner("io");
  task->mutable_attempt_timeout()->set_nanos(5'000'000);
  task->mutable_queue_timeout()->set_seconds(7);
  v1::RetryPolicy* retry = task->mutable_retry_policy();
  retry->set_max_attempts(4);
  retry->set_jitter(0);
  retry->mutable_initial_backoff()->set_seconds(1);
  retry->add_codes(google::rpc::UNAVAILABLE);
  const GraphRequest graph = Convert();
  const TaskPolicy& policy = graph.batch.kinds[0].policy;
  EXPECT_EQ(graph.options.failure_policy, FailurePolicy::kFailFast);
  EXPECT_EQ(graph.options.timeout, absl::Seconds(9));
  EXPECT_EQ(graph.options.priority, Priority::kLow);
  EXPECT_EQ(policy.priority, Priority::kLow);
  EXPECT_EQ(policy.attempt_timeout, absl::Milliseconds(5));
  EXPECT_EQ(policy.queue_timeout, absl::Seconds(7));
  EXPECT_EQ(policy.retry.max_attempts, 4);
  EXPECT_EQ(policy.retry.jitter, 0);
  EXPECT_EQ(policy.retry.initial_backoff, absl::Seconds(1));
  EXPECT_THAT(policy.retry.codes, ElementsAre(absl::StatusCode::kUnavailable));
}

TEST_F(ConvertTest, AJobWithoutTasksIsFine) { EXPECT_EQ(Convert().batch.size(), 0u); }

TEST_F(ConvertTest, LimitsAreNamedWithTheValueThatExceedsThem) {
  limits_.max_tasks_per_job = 2;
  for (const char* id : {"a", "b", "c"}) Add(id);
  EXPECT_THAT(Refusal(), HasSubstr("job.tasks: has 3 tasks, task_arrays included; the limit is 2"));
  limits_.max_tasks_per_job = 10;
  limits_.max_dependencies_per_task = 1;
  job_.mutable_tasks(2)->add_after("a");
  job_.mutable_tasks(2)->add_after("b");
  EXPECT_THAT(Refusal(), HasSubstr("job.tasks[2].after: there are 2 dependencies; the limit is 1"));
  job_.mutable_tasks(2)->clear_after();
  limits_.max_payload_bytes = 3;
  job_.mutable_tasks(0)->set_payload("four");
  EXPECT_THAT(Refusal(), HasSubstr("job.tasks[0].payload: has 4 bytes; the limit is 3"));
}

TEST_F(ConvertTest, LabelsAreBounded) {
  (*Add("a")->mutable_labels())[std::string(64, 'k')] = "v";
  EXPECT_THAT(Refusal(), HasSubstr("job.tasks[0].labels"));
  job_.mutable_tasks(0)->clear_labels();
  for (int i = 0; i < 65; ++i) (*job_.mutable_labels())[std::to_string(i)] = "v";
  EXPECT_THAT(Refusal(), HasSubstr("job.labels: has 65 entries; the limit is 64"));
}

TEST_F(ConvertTest, CommandsAreNotForCallersFromElsewhere) {
  catalog_.caller_may_run_commands = false;
  job_.add_tasks()->mutable_command()->add_argv("true");
  const absl::Status status = ToGraph(catalog_, &job_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("job.tasks[0].command"));
}

TEST_F(ConvertTest, ALongCycleIsCutInTheMessage) {
  for (int i = 0; i < 200; ++i) Add("t" + std::to_string(i))->add_after_indices((i + 1) % 200);
  EXPECT_THAT(Refusal(), HasSubstr("(136 more)"));
}

TEST_F(ConvertTest, ATaskIsToldBackWithItsKindAndLabels) {
  Add("a");
  v1::Task* b = Add("b", "g");
  b->set_priority(v1::PRIORITY_HIGH);
  (*b->mutable_labels())["k"] = "v";
  const GraphRequest graph = Convert();
  EXPECT_THAT(graph.spec->kind, ElementsAre(0, 1));
  v1::Task kind;
  ASSERT_TRUE(kind.ParseFromString(std::string(graph.spec->KindOf(1))));
  EXPECT_EQ(kind.function().name(), "g");
  EXPECT_EQ(kind.priority(), v1::PRIORITY_HIGH);
  ASSERT_TRUE(kind.ParseFromString(graph.spec->labels.at(1)));
  EXPECT_EQ(kind.labels().at("k"), "v");
}

}  // namespace
}  // namespace jackdaw
