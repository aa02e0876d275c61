#include <atomic>
#include <string>
#include <vector>

#include "tests/scheduler/graph/graph_fixture.h"

namespace jackdaw {
namespace {

class JobTest : public GraphTestBase {};
INSTANTIATE_TEST_SUITE_P(Workers, JobTest, testing::Values(0, 1, 2, 8), WorkersName);

TEST_P(JobTest, OutputsReachTheDependentInTheOrderOfItsDependencies) {
  BatchBuilder b;
  const auto say = [](std::string text) {
    return MakeAction([text](Attempt&) { return Ok(text); });
  };
  const std::uint32_t a = b.Task(say(std::string("\0a", 2)));
  const std::uint32_t empty = b.Task(say(""));
  const std::uint32_t c = b.Task(say("c"));
  b.Task(MakeAction([](Attempt& attempt) {
           std::string all;
           for (std::size_t i = 0; i < attempt.input_count(); ++i) {
             all += std::string(attempt.input(i).view()) + "|";
           }
           return Ok(all);
         }),
         {}, {c, empty, a});
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  EXPECT_EQ(job->state(), JobState::kSucceeded);
  EXPECT_EQ(job->Task(3).output.view(), absl::string_view("c||\0a|", 6));
}

TEST_P(JobTest, FanOutAndFanInRunEveryTaskOnce) {
  std::atomic<int> runs{0};
  BatchBuilder b;
  const std::uint32_t count = b.Kind(MakeAction([&](Attempt&) {
    ++runs;
    return Ok();
  }));
  const std::uint32_t root = b.Task(count);
  std::vector<std::uint32_t> middle;
  for (int i = 0; i < 10'000; ++i) middle.push_back(b.Task(count, {root}));
  b.Task(count, middle);
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  EXPECT_EQ(runs, 10'002);
  EXPECT_EQ(job->Snapshot().tasks[static_cast<std::size_t>(TaskState::kSucceeded)], 10'002);
}

// Exhaustive over run_if, two dependencies' ends and the failure policy (argo#13498).
TEST_P(JobTest, RunIfDecidesByTheEndsOfTheDependencies) {
  enum End { kOk, kFails, kSkips };
  for (const FailurePolicy policy : {FailurePolicy::kContinue, FailurePolicy::kFailFast}) {
    for (const RunIf run_if : {RunIf::kAllSucceeded, RunIf::kAllDone, RunIf::kAnyFailed}) {
      for (int ends = 0; ends < 9; ++ends) {
        BatchBuilder b;
        const auto dependency = [&](int end) {
          if (end == kFails)
            return b.Task(MakeAction([](Attempt&) { return Failure(absl::InternalError("x")); }));
          const std::uint32_t task = b.Task(Noop());
          TaskPolicy never;
          never.run_if = RunIf::kAnyFailed;
          return end == kOk ? task : b.Task(Noop(), never, {task});
        };
        const int first = ends / 3;
        const int second = ends % 3;
        const std::uint32_t one = dependency(first);
        const std::uint32_t two = dependency(second);
        TaskPolicy of_last;
        of_last.run_if = run_if;
        const TaskIndex last = b.Task(Noop(), of_last, {one, two}) ^ TaskBatch::kInBatchBit;
        auto job = h.Create(b.Take(), true, {.id = {}, .failure_policy = policy});
        h.UntilDone(*job);
        const bool failed = first == kFails || second == kFails;
        const bool runs = run_if == RunIf::kAllDone || (run_if == RunIf::kAnyFailed && failed) ||
                          (run_if == RunIf::kAllSucceeded && first == kOk && second == kOk);
        SCOPED_TRACE(testing::Message() << "run_if " << static_cast<int>(run_if) << " ends " << ends
                                        << " policy " << static_cast<int>(policy));
        EXPECT_EQ(job->state(), failed ? JobState::kFailed : JobState::kSucceeded);
        // Fail fast cancels what has not ended; how far the rest came is a matter of time.
        if (failed && policy == FailurePolicy::kFailFast) {
          EXPECT_TRUE(IsTerminal(job->task_state(last)));
        } else {
          EXPECT_EQ(job->task_state(last), runs ? TaskState::kSucceeded : TaskState::kSkipped);
        }
      }
    }
  }
}

TEST_P(JobTest, TasksAddedLaterDependOnTasksThatEndedInAnyState) {
  BatchBuilder b;
  b.Task(Noop());
  b.Task(MakeAction([](Attempt&) { return Failure(absl::InternalError("x")); }));
  b.Task(Noop(), {}, {TaskBatch::InBatch(1)});  // Skipped.
  auto job = h.Create(b.Take(), /*seal=*/false);
  h.Until([&] { return IsTerminal(job->task_state(2)) && IsTerminal(job->task_state(0)); });
  BatchBuilder more;
  more.Task(Noop(), {}, {0});
  more.Task(Noop(), {}, {0, 1});
  more.Task(Noop(), {}, {2});
  EXPECT_EQ(*job->Add(more.Take()), 3u);
  EXPECT_EQ(job->state(), JobState::kOpen);
  job->Close();
  h.UntilDone(*job);
  EXPECT_EQ(job->task_state(3), TaskState::kSucceeded);
  EXPECT_EQ(job->task_state(4), TaskState::kSkipped);
  EXPECT_EQ(job->task_state(5), TaskState::kSkipped);
  EXPECT_EQ(job->Add(BatchBuilder().Take()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(JobTest, ARefusedBatchLeavesTheJobAsItWas) {
  auto job = h.Create(BatchBuilder().Take(), /*seal=*/false);
  BatchBuilder b;
  b.Task(Noop());
  b.Task(Noop(), {}, {TaskBatch::InBatch(2)});
  b.Task(Noop(), {}, {TaskBatch::InBatch(1)});
  b.batch().ids = {"a", "b", "c"};
  const absl::Status status = job->Add(b.batch()).status();
  EXPECT_EQ(status.message(), "tasks depend on each other in a cycle: b -> c -> b");
  EXPECT_EQ(job->task_count(), 0);
  EXPECT_FALSE(job->Find("a").has_value());
  EXPECT_EQ(job->Snapshot().task_count, 0);
}

TEST_P(JobTest, AnOpenJobThatIsCancelledIsCancelledEvenIfNothingWasLeft) {
  auto job = h.Create(BatchBuilder().Take(), /*seal=*/false);
  job->Cancel(absl::CancelledError("enough"));
  EXPECT_EQ(job->state(), JobState::kCancelled);
  EXPECT_EQ(job->Snapshot().status.message(), "enough");
}

TEST_P(JobTest, AnActionThatNeitherAnswersNorDetachesFails) {
  BatchBuilder b;
  b.Task(MakeAction([](Attempt&) { return std::nullopt; }));
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  EXPECT_EQ(job->Task(0).status.code(), absl::StatusCode::kInternal);
}

TEST_P(JobTest, CallbacksOfTheEndAreCalledOnceAlsoAfterIt) {
  std::atomic<int> calls{0};
  BatchBuilder b;
  b.Task(Noop());
  auto job = h.Create(b.Take());
  job->OnDone([&] { ++calls; });
  h.UntilDone(*job);
  job->OnDone([&] { ++calls; });
  h.Until([&] { return calls == 2; });
}

TEST_P(JobTest, AWatcherHearsOfTasksThatWereAddedAndOfTheEnd) {
  std::atomic<int> notified{0};
  auto job = h.Create(BatchBuilder().Take(), /*seal=*/false);
  const Job::WatcherId id = job->AddWatcher([&] { ++notified; });
  std::uint64_t seen = job->ChangesSince(0).revision;
  BatchBuilder b;
  b.Task(Noop());
  ASSERT_TRUE(job->Add(b.Take()).ok());
  h.Until([&] { return job->task_state(0) == TaskState::kSucceeded; });
  h.Until([&] {
    const JobChanges changes = job->ChangesSince(seen);
    return changes.tasks == std::vector<TaskIndex>{0} && !changes.resync;
  });
  job->RemoveWatcher(id);
  const int before = notified;
  EXPECT_GT(before, 0);
  job->Close();
  h.UntilDone(*job);
  EXPECT_EQ(notified, before);
}

// A chain of tasks that are not instant must not keep its worker from another job.
TEST(FairnessTest, AChainLetsAnotherJobTakeItsTurn) {
  EngineHarness h(0);
  std::vector<char> order;
  BatchBuilder chain;
  const std::uint32_t step = chain.Kind(MakeAction([&](Attempt&) {
    order.push_back('c');
    return Ok();
  }));
  std::uint32_t last = chain.Task(step);
  for (int i = 0; i < 999; ++i) last = chain.Task(step, {last});
  BatchBuilder other;
  other.Task(MakeAction([&](Attempt&) {
    order.push_back('o');
    return Ok();
  }));
  auto a = h.Create(chain.Take());
  auto b = h.Create(other.Take());
  h.UntilDone(*a);
  h.UntilDone(*b);
  const auto at = std::find(order.begin(), order.end(), 'o') - order.begin();
  EXPECT_LT(at, 64);
}

TEST(FairnessTest, JobsOfDifferentSizeGetTheSameShareWhileBothHaveWork) {
  for (const bool instant : {false, true}) {
    EngineHarness h(0);
    int big = 0;
    int small = 0;
    int big_when_small_ended = 0;
    const auto fill = [&](int tasks, int* count) {
      BatchBuilder b;
      const std::uint32_t kind = b.Kind(MakeAction(
          [&, count](Attempt&) {
            if (++*count == 2000 && count == &small) big_when_small_ended = big;
            return Ok();
          },
          {.instant = instant}));
      for (int i = 0; i < tasks; ++i) b.Task(kind);
      return b.Take();
    };
    auto a = h.Create(fill(32'000, &big));
    auto b = h.Create(fill(2'000, &small));
    h.UntilDone(*a);
    h.UntilDone(*b);
    EXPECT_GT(big_when_small_ended, 2000 / 1.2) << "instant " << instant;
    EXPECT_LT(big_when_small_ended, 2000 * 1.2) << "instant " << instant;
  }
}

TEST(FairnessTest, HigherPriorityOfAJobsTasksGoesFirst) {
  EngineHarness h(0);
  std::string order;
  BatchBuilder b;
  for (const auto& [name, priority] :
       {std::pair{'l', Priority::kLow}, std::pair{'h', Priority::kHigh},
        std::pair{'n', Priority::kNormal}}) {
    TaskPolicy policy;
    policy.priority = priority;
    b.Task(MakeAction([&order, n = name](Attempt&) {
             order += n;
             return Ok();
           }),
           policy);
  }
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  EXPECT_EQ(order, "hnl");
}

}  // namespace
}  // namespace jackdaw
