// What right job files mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/jobfile/check.h"
#include "client/jobfile/parse.h"

namespace jackdaw::jobfile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

JobFile MustParse(const std::string& text) {
  absl::StatusOr<JobFile> job = ParseJobFile(text, "folder/night.yaml");
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *std::move(job) : JobFile();
}

TEST(JobFileTest, SmallestFileNeedsOneTask) {
  const JobFile job = MustParse("tasks: [{id: a, function: noop}]");
  EXPECT_EQ(job.name, "night") << "named after its file";
  ASSERT_EQ(job.tasks.size(), 1u);
  EXPECT_EQ(job.tasks[0].id, "a");
  EXPECT_EQ(job.tasks[0].function, "noop");
  EXPECT_FALSE(job.failure_policy.has_value());
  EXPECT_FALSE(job.tasks[0].policy.retry.has_value());
  EXPECT_FALSE(job.tasks[0].policy.timeout.has_value());
}

TEST(JobFileTest, EveryFieldOfAJobIsRead) {
  const JobFile job = MustParse(R"(
name: nightly
failure_policy: fail_fast
priority: high
timeout: 1h30m
labels: {team: data, run: 7}
tasks: [{id: a, function: noop}]
)");
  EXPECT_EQ(job.name, "nightly");
  EXPECT_EQ(job.failure_policy, FailurePolicy::kFailFast);
  EXPECT_EQ(job.priority, Priority::kHigh);
  EXPECT_EQ(job.timeout, absl::Minutes(90));
  EXPECT_THAT(job.labels, UnorderedElementsAre(Pair("team", "data"), Pair("run", "7")));
}

TEST(JobFileTest, EveryFieldOfATaskIsRead) {
  const JobFile job = MustParse(R"(
tasks:
  - id: first
    function: echo
    payload: "two\nlines"
  - id: second
    command: [wc, -c, 5, true]
    payload: text
    stdin: payload
    env: {A: b, N: 1}
    workdir: /srv
    after: [first]
    labels: {part: nightly, shard: 3}
    run_if: all_done
    priority: low
    runner: compute
    timeout: 250ms
    queue_timeout: 2m
    retry:
      attempts: 4
      initial_backoff: 10ms
      max_backoff: 1s
      multiplier: 1.5
      jitter: 0.1
      codes: [UNAVAILABLE, ABORTED]
)");
  ASSERT_EQ(job.tasks.size(), 2u);
  EXPECT_EQ(job.tasks[0].payload, "two\nlines");
  const Task& task = job.tasks[1];
  EXPECT_THAT(task.command, ElementsAre("wc", "-c", "5", "true"));
  EXPECT_EQ(task.payload, "text");
  EXPECT_EQ(task.stdin_from, Stdin::kPayload);
  EXPECT_THAT(task.surroundings.env, UnorderedElementsAre(Pair("A", "b"), Pair("N", "1")));
  EXPECT_EQ(task.surroundings.workdir, "/srv");
  EXPECT_THAT(task.after, ElementsAre("first"));
  EXPECT_THAT(task.dependencies, ElementsAre(0u));
  EXPECT_EQ(task.policy.run_if, RunIf::kAllDone);
  EXPECT_THAT(task.labels, UnorderedElementsAre(Pair("part", "nightly"), Pair("shard", "3")));
  EXPECT_EQ(task.policy.priority, Priority::kLow);
  EXPECT_EQ(task.policy.runner, "compute");
  EXPECT_EQ(task.policy.timeout, absl::Milliseconds(250));
  EXPECT_EQ(task.policy.queue_timeout, absl::Minutes(2));
  ASSERT_TRUE(task.policy.retry.has_value());
  EXPECT_EQ(task.policy.retry->attempts, 4);
  EXPECT_EQ(task.policy.retry->initial_backoff, absl::Milliseconds(10));
  EXPECT_EQ(task.policy.retry->max_backoff, absl::Seconds(1));
  EXPECT_EQ(task.policy.retry->multiplier, 1.5);
  EXPECT_EQ(task.policy.retry->jitter, 0.1);
  EXPECT_THAT(*task.policy.retry->codes,
              ElementsAre(absl::StatusCode::kUnavailable, absl::StatusCode::kAborted));
}

TEST(JobFileTest, DefaultsHoldWhereATaskIsSilentAndMergeFieldByField) {
  const JobFile job = MustParse(R"(
tasks:
  - {id: plain, command: [a]}
  - id: special
    command: [b]
    retry: {attempts: 1}
    env: {B: own}
    timeout: 1s
  - {id: inside, function: noop, runner: background}
defaults:
  runner: compute
  retry: {attempts: 5, jitter: 0}
  env: {A: all, B: all}
  workdir: /tmp
  timeout: 9s
)");
  ASSERT_EQ(job.tasks.size(), 3u);
  EXPECT_EQ(job.tasks[0].policy.retry->attempts, 5);
  EXPECT_EQ(job.tasks[0].policy.runner, "compute");
  EXPECT_EQ(job.tasks[2].policy.runner, "background");
  EXPECT_EQ(job.tasks[0].policy.timeout, absl::Seconds(9));
  EXPECT_THAT(job.tasks[0].surroundings.env,
              UnorderedElementsAre(Pair("A", "all"), Pair("B", "all")));
  EXPECT_EQ(job.tasks[1].policy.retry->attempts, 1);
  EXPECT_EQ(job.tasks[1].policy.retry->jitter, 0);
  EXPECT_EQ(job.tasks[1].policy.timeout, absl::Seconds(1));
  EXPECT_THAT(job.tasks[1].surroundings.env,
              UnorderedElementsAre(Pair("A", "all"), Pair("B", "own")));
  EXPECT_THAT(job.tasks[2].surroundings.env, IsEmpty()) << "a function has no environment";
  EXPECT_FALSE(job.tasks[2].surroundings.workdir.has_value());
}

TEST(JobFileTest, JsonIsReadAsWell) {
  const JobFile job = MustParse(R"({"name": "j", "tasks": [
    {"id": "a", "function": "echo", "payload": "\u00e9\n"},
    {"id": "b", "command": ["cat"], "stdin": "inputs", "after": ["a"]}]})");
  ASSERT_EQ(job.tasks.size(), 2u);
  EXPECT_EQ(job.tasks[0].payload, "\xc3\xa9\n");
  EXPECT_EQ(job.tasks[1].stdin_from, Stdin::kInputs);
}

TEST(JobFileTest, PayloadOfACommandGoesToItsStandardInput) {
  const JobFile job = MustParse("tasks: [{id: a, command: [cat], payload: x}]");
  EXPECT_EQ(job.tasks[0].stdin_from, Stdin::kPayload);
}

TEST(JobFileTest, OneDependencyNeedsNoList) {
  const JobFile job =
      MustParse("tasks: [{id: b, function: noop, after: a}, {id: a, function: noop}]");
  EXPECT_THAT(job.tasks[0].dependencies, ElementsAre(1u));
}

TEST(JobFileTest, BinaryPayloadIsDecoded) {
  const JobFile job = MustParse("tasks: [{id: a, function: echo, payload: !!binary AAEC/w==}]");
  EXPECT_EQ(job.tasks[0].payload, std::string("\x00\x01\x02\xff", 4));
}

TEST(JobFileTest, AnchorsRepeatWhatIsWrittenOnce) {
  const JobFile job = MustParse(
      "tasks: [{id: a, command: &c [sh, -c, 'exit 0']}, {id: b, command: *c, after: [a]}]");
  EXPECT_EQ(job.tasks[0].command, job.tasks[1].command);
}

TEST(JobFileTest, EveryExampleIsRight) {
  for (const char* name : {"hello", "licenses", "policies"}) {
    const auto job = LoadJobFile(std::string(JACKDAW_EXAMPLES) + "/" + name + ".yaml");
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->name, name);
  }
}

TEST(JobFileTest, LicensesExampleIsARealGraph) {
  const auto job = LoadJobFile(std::string(JACKDAW_EXAMPLES) + "/licenses.yaml");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_GE(job->tasks.size(), 20u);
  for (const Task& task : job->tasks) {
    EXPECT_EQ(task.dependencies.size() == 14, task.id == "merge" || task.id == "longest")
        << task.id;
  }
}

TEST(FindCycleTest, LongChainNeedsNoStack) {
  constexpr std::uint32_t kTasks = 200'000;
  std::vector<Task> tasks(kTasks);
  for (std::uint32_t i = 0; i + 1 < kTasks; ++i) tasks[i].dependencies = {i + 1};
  EXPECT_THAT(FindCycle(tasks), IsEmpty());
  tasks.back().dependencies = {kTasks - 3};
  EXPECT_THAT(FindCycle(tasks), ElementsAre(kTasks - 3, kTasks - 2, kTasks - 1));
}

}  // namespace
}  // namespace jackdaw::jobfile
