#include "client/cpp/job_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(JobBuilderTest, HandlesBecomeIndices) {
  JobBuilder job("name");
  auto a = job.Function("noop");
  auto b = job.Function("sha256").After(a).Id("digest");
  job.Function("concat").After({b, a}).After(b);
  const v1::Job built = job.Build();
  EXPECT_EQ(built.display_name(), "name");
  ASSERT_THAT(built.tasks(), SizeIs(3));
  EXPECT_EQ(built.tasks(1).task_id(), "digest");
  EXPECT_EQ(built.tasks(1).function().name(), "sha256");
  EXPECT_THAT(built.tasks(0).after_indices(), IsEmpty());
  EXPECT_THAT(built.tasks(1).after_indices(), ElementsAre(0));
  EXPECT_THAT(built.tasks(2).after_indices(), ElementsAre(1, 0, 1));
}

TEST(JobBuilderTest, EveryPolicyArrives) {
  JobBuilder job;
  job.FailurePolicy(v1::FAILURE_POLICY_FAIL_FAST)
      .Priority(v1::PRIORITY_HIGH)
      .Timeout(absl::Minutes(2))
      .Label("team", "data");
  job.Command({"cat", "-n"})
      .Payload("in")
      .Stdin(v1::CommandAction::STDIN_PAYLOAD)
      .Environment("A", "b")
      .WorkingDirectory("/srv")
      .RunIf(v1::RUN_IF_ALL_DONE)
      .Priority(v1::PRIORITY_LOW)
      .Timeout(absl::Milliseconds(1500))
      .QueueTimeout(absl::Seconds(9))
      .Label("k", "v")
      .Runner("slow")
      .Retry({.attempts = 3,
              .initial_backoff = absl::Milliseconds(10),
              .max_backoff = absl::Seconds(1),
              .multiplier = 3,
              .jitter = 0,
              .codes = {absl::StatusCode::kUnavailable}});
  const v1::Job built = job.Take();
  EXPECT_EQ(built.failure_policy(), v1::FAILURE_POLICY_FAIL_FAST);
  EXPECT_EQ(built.priority(), v1::PRIORITY_HIGH);
  EXPECT_EQ(built.timeout().seconds(), 120);
  EXPECT_EQ(built.labels().at("team"), "data");
  const v1::Task& task = built.tasks(0);
  EXPECT_THAT(task.command().argv(), ElementsAre("cat", "-n"));
  EXPECT_EQ(task.payload(), "in");
  EXPECT_EQ(task.command().stdin(), v1::CommandAction::STDIN_PAYLOAD);
  EXPECT_EQ(task.command().environment().at("A"), "b");
  EXPECT_EQ(task.command().working_directory(), "/srv");
  EXPECT_EQ(task.run_if(), v1::RUN_IF_ALL_DONE);
  EXPECT_EQ(task.priority(), v1::PRIORITY_LOW);
  EXPECT_EQ(task.attempt_timeout().seconds(), 1);
  EXPECT_EQ(task.attempt_timeout().nanos(), 500'000'000);
  EXPECT_EQ(task.queue_timeout().seconds(), 9);
  EXPECT_EQ(task.labels().at("k"), "v");
  EXPECT_EQ(task.runner(), "slow");
  EXPECT_EQ(task.retry_policy().max_attempts(), 3);
  EXPECT_EQ(task.retry_policy().initial_backoff().nanos(), 10'000'000);
  EXPECT_EQ(task.retry_policy().max_backoff().seconds(), 1);
  EXPECT_EQ(task.retry_policy().multiplier(), 3);
  EXPECT_TRUE(task.retry_policy().has_jitter());
  EXPECT_EQ(task.retry_policy().jitter(), 0);
  EXPECT_THAT(task.retry_policy().codes(), ElementsAre(google::rpc::UNAVAILABLE));
}

TEST(JobBuilderTest, ArraysAndSingleTasksDependOnOneAnother) {
  JobBuilder job;
  auto first = job.Function("noop");
  auto array = job.Array("noop");
  array.shared().Priority(v1::PRIORITY_LOW);
  const auto a0 = array.Add({first});
  const auto a1 = array.Add({a0, first});
  // Single tasks come before arrays in the job, also those made later.
  auto last = job.Function("concat").After({a1, first});
  const auto a2 = array.Add({last});
  EXPECT_EQ(job.task_count(), 5);
  const v1::Job built = job.Build();
  EXPECT_THAT(built.tasks(1).after_indices(), ElementsAre(3, 0));
  ASSERT_THAT(built.task_arrays(), SizeIs(1));
  const v1::TaskArray& columns = built.task_arrays(0);
  EXPECT_EQ(columns.count(), 3);
  EXPECT_EQ(columns.prototype().function().name(), "noop");
  EXPECT_EQ(columns.prototype().priority(), v1::PRIORITY_LOW);
  EXPECT_THAT(columns.dependency_counts(), ElementsAre(1, 2, 1));
  EXPECT_THAT(columns.dependency_indices(), ElementsAre(0, 2, 0, 1));
  (void)a2;
}

TEST(JobBuilderTest, ArraysFilledInTurnsAreCutIntoPieces) {
  JobBuilder job;
  auto left = job.Array("noop");
  const auto l0 = left.Add();
  auto right = job.Array("echo");
  const auto r1 = right.Add({l0});
  const auto l2 = left.Add({r1});
  right.Add({l2});
  const v1::Job built = job.Build();
  ASSERT_THAT(built.task_arrays(), SizeIs(4));
  EXPECT_EQ(built.task_arrays(2).prototype().function().name(), "noop");
  EXPECT_EQ(built.task_arrays(3).prototype().function().name(), "echo");
  EXPECT_THAT(built.task_arrays(1).dependency_indices(), ElementsAre(0));
  EXPECT_THAT(built.task_arrays(2).dependency_indices(), ElementsAre(1));
  EXPECT_THAT(built.task_arrays(3).dependency_indices(), ElementsAre(2));
}

TEST(JobBuilderTest, IdsAndPayloadsOfArraysCostNothingUntilOneIsGiven) {
  JobBuilder job;
  auto plain = job.Array("noop");
  plain.Add();
  auto mixed = job.Array("echo");
  mixed.shared().Payload("common");
  mixed.Add();
  mixed.Add({}, "named", "own");
  mixed.Add();
  const v1::Job built = job.Build();
  EXPECT_THAT(built.task_arrays(0).task_ids(), IsEmpty());
  EXPECT_THAT(built.task_arrays(0).payloads(), IsEmpty());
  EXPECT_THAT(built.task_arrays(0).dependency_counts(), IsEmpty());
  EXPECT_THAT(built.task_arrays(1).task_ids(), ElementsAre("", "named", ""));
  EXPECT_THAT(built.task_arrays(1).payloads(), ElementsAre("common", "own", "common"));
}

TEST(JobBuilderTest, ArrayOfNoTasksIsLeftOut) {
  JobBuilder job;
  auto empty = job.Array("noop");
  (void)empty;
  EXPECT_THAT(job.Build().task_arrays(), IsEmpty());
}

TEST(JobBuilderTest, HandlesSurviveAMove) {
  JobBuilder job;
  auto a = job.Function("noop");
  auto array = job.Array("noop");
  JobBuilder moved = std::move(job);
  array.Add({a});
  a.Id("still");
  const v1::Job built = moved.Build();
  EXPECT_EQ(built.tasks(0).task_id(), "still");
  EXPECT_EQ(built.task_arrays(0).count(), 1);
}

TEST(JobBuilderTest, MillionTasksAreAFewColumns) {
  constexpr int kTasks = 1'000'000;
  JobBuilder job;
  auto array = job.Array("noop");
  auto last = array.Add();
  for (int i = 1; i < kTasks; ++i) last = array.Add({last});
  const v1::Job built = job.Take();
  EXPECT_EQ(built.task_arrays(0).count(), kTasks);
  EXPECT_EQ(built.task_arrays(0).dependency_indices_size(), kTasks - 1);
  EXPECT_LT(built.ByteSizeLong(), 5u * kTasks);
}

}  // namespace
}  // namespace jackdaw
