#include "scheduler/graph/batch.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/scheduler/graph/graph_fixture.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TaskBatch TwoTasks() {
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop());
  b.Task(kind, {b.Task(kind)});
  return b.Take();
}

// What Validate() says of two tasks, the second after the first, once `spoil` changed them.
std::string Refusal(const std::function<void(TaskBatch&)>& spoil, std::size_t existing = 0) {
  TaskBatch batch = TwoTasks();
  spoil(batch);
  const absl::Status status = Validate(batch, existing);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(BatchTest, ValidBatchPasses) {
  EXPECT_TRUE(Validate(TwoTasks(), 0).ok());
  EXPECT_TRUE(Validate(TaskBatch(), 0).ok());
}

TEST(BatchTest, ColumnOfAnotherLengthIsRefusedByName) {
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.dependency_count.pop_back(); }),
            "dependency_count has 1 entries for 2 tasks");
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.payloads.resize(3); }),
            "payloads has 3 entries for 2 tasks");
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.ids.resize(1); }), "ids has 1 entries for 2 tasks");
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.dependencies.clear(); }),
            "dependencies has 0 entries, dependency_count sums to 1");
}

TEST(BatchTest, CountsThatWrapAroundAreRefused) {
  const std::string refusal = Refusal([](TaskBatch& b) { b.dependency_count = {0xffffffff, 2}; });
  EXPECT_EQ(refusal, "dependencies has 1 entries, dependency_count sums to 4294967297");
}

TEST(BatchTest, KindWithoutActionIsRefused) {
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.kinds[0].action = nullptr; }), "kinds[0] has no action");
}

TEST(BatchTest, KindWithABadPolicyIsRefusedByField) {
  EXPECT_THAT(Refusal([](TaskBatch& b) { b.kinds[0].policy.retry.max_attempts = 0; }),
              HasSubstr("kinds[0].retry.max_attempts must be 1 to 1000, was 0"));
}

TEST(BatchTest, KindThatIsNotThereIsRefused) {
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.kind[1] = 1; }), "kind[1] is 1, there are 1 kinds");
}

TEST(BatchTest, DependencyThatIsNotThereIsRefused) {
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.dependencies[0] = TaskBatch::InBatch(2); }),
            "dependency 0 of task 1 is 2, there are 2 tasks");
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.dependencies[0] = 5; }, /*existing=*/5),
            "dependency 0 of task 1 is 5, there are 5 tasks");
}

TEST(BatchTest, TaskThatDependsOnItselfIsRefused) {
  EXPECT_EQ(Refusal([](TaskBatch& b) { b.dependencies[0] = TaskBatch::InBatch(1); }),
            "task 1 depends on itself");
}

TEST(FindCycleTest, GraphThatPointsForwardsWithoutACycleHasNone) {
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop());
  b.Task(kind, {TaskBatch::InBatch(1), TaskBatch::InBatch(2)});
  b.Task(kind, {TaskBatch::InBatch(2)});
  b.Task(kind);
  EXPECT_THAT(FindCycle(b.batch()), IsEmpty());
}

TEST(FindCycleTest, EachTaskOfTheCycleDependsOnTheNext) {
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop());
  b.Task(kind, {TaskBatch::InBatch(3)});  // Leads to the cycle, is not on it.
  b.Task(kind, {TaskBatch::InBatch(3), 0});
  b.Task(kind, {TaskBatch::InBatch(1)});
  b.Task(kind, {TaskBatch::InBatch(2)});
  EXPECT_THAT(FindCycle(b.batch()), ElementsAre(3, 2, 1));
}

TEST(FindCycleTest, MillionTasksInOneCycleNeedNoStack) {
  constexpr std::uint32_t kTasks = 1'000'000;
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop());
  for (std::uint32_t i = 0; i < kTasks; ++i) b.Task(kind, {TaskBatch::InBatch((i + 1) % kTasks)});
  const std::vector<std::uint32_t> cycle = FindCycle(b.batch());
  ASSERT_EQ(cycle.size(), kTasks);
  for (std::uint32_t i = 0; i < kTasks; ++i) ASSERT_EQ(cycle[i], (cycle[0] + i) % kTasks);
}

TEST(FindCycleTest, JobNamesTheCycleTaskByTask) {
  EngineHarness h(0);
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop());
  b.Task(kind, {TaskBatch::InBatch(1)});
  b.Task(kind, {TaskBatch::InBatch(0)});
  b.batch().ids = {"egg", "hen"};
  const auto job = h.engine().Create({.id = "cycle"}, b.Take(), /*seal=*/true);
  EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(job.status().message()), HasSubstr("egg -> hen -> egg"));
}

}  // namespace
}  // namespace jackdaw
