// What a pool did, read back from the JSON: tracks, spans that lie in each other, and arrows with
// both ends.

#include "scheduler/trace/timeline.h"

#include <array>
#include <atomic>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/worker_context.h"
#include "scheduler/trace/trace_scope.h"
#include "tests/scheduler/pool/pool_fixture.h"
#include "tests/scheduler/trace/trace_reader.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;

std::string Text(const Timeline& timeline) {
  std::ostringstream out;
  EXPECT_TRUE(timeline.WriteJson(out).ok());
  return out.str();
}

// ---- on the caller's thread, with a clock that stands ----

class DrivenTimelineTest : public testing::Test {
 protected:
  void RunTask(int micros) {
    Go(pool_, [this, micros] { clock_.Advance(absl::Microseconds(micros)); });
  }
  FakeClock clock_;
  Timeline timeline_{{.name = "compute", .max_spans = 10, .spawns = true, .clock = &clock_}};
  WorkStealingPool pool_{{.workers = 0, .clock = &clock_, .trace = &timeline_}};
};

TEST_F(DrivenTimelineTest, NothingYetIsATraceToo) {
  const TraceReader trace(Text(timeline_));
  EXPECT_TRUE(trace.spans().empty());
  EXPECT_EQ(trace.groups().at(1), "compute");
}

TEST_F(DrivenTimelineTest, TasksStandOnTheTrackOneAfterTheOther) {
  RunTask(5);
  RunTask(7);
  EXPECT_EQ(pool_.RunUntilIdle(), 2);
  const TraceReader trace(Text(timeline_));
  EXPECT_THAT(trace.spans(), ElementsAre("1.1: task@0", "1.1: task@5"));
  EXPECT_EQ(trace.tracks().at("1.1"), "compute.worker.0");
}

TEST_F(DrivenTimelineTest, ScopesAndTasksLieInTheTaskThatRunsThem) {
  Go(pool_, [this] {
    const TraceScope outer("outer");
    clock_.Advance(absl::Nanoseconds(1'500));
    {
      const TraceScope inner("inner");
      RunTask(1);
      EXPECT_TRUE(pool_.RunOne());
    }
    const TraceScope empty("empty");
  });
  EXPECT_EQ(pool_.RunUntilIdle(), 1);
  const TraceReader trace(Text(timeline_));
  EXPECT_THAT(trace.spans(), ElementsAre("1.1: task@0", "1.1:  outer@0", "1.1:   inner@1.5",
                                         "1.1:    task@1.5", "1.1:   empty@2.5"));
  EXPECT_EQ(trace.Count("spawn"), 1u);
}

TEST_F(DrivenTimelineTest, SpansBeyondTheLimitAreCountedAndNothingElseIsLost) {
  for (int i = 0; i < 4; ++i) RunTask(1);
  Go(pool_, [this] {
    for (int i = 0; i < 8; ++i) {
      const TraceScope scope("scope");
      clock_.Advance(absl::Microseconds(1));
    }
  });
  EXPECT_EQ(pool_.RunUntilIdle(), 5);
  EXPECT_EQ(timeline_.dropped(), 3);
  const TraceReader trace(Text(timeline_));
  EXPECT_EQ(trace.dropped(), 3);
  EXPECT_EQ(trace.Count("task"), 4u);
  EXPECT_EQ(trace.Count("scope"), 6u);
}

TEST_F(DrivenTimelineTest, NamesMayHoldAnything) {
  Go(pool_, [] { const TraceScope scope("a \"b\\c\"\n\x01"); });
  EXPECT_EQ(pool_.RunUntilIdle(), 1);
  EXPECT_TRUE(TraceReader(Text(timeline_)).Has("a \"b\\c\"\n\x01"));
}

TEST_F(DrivenTimelineTest, StreamThatFailsIsSaid) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(timeline_.WriteJson(out).code(), absl::StatusCode::kDataLoss);
}

TEST(TraceScopeTest, DoesNothingWhereNobodyListens) {
  const TraceScope off_any_runner("nobody");
  WorkStealingPool pool({.workers = 0});
  Go(pool, [] { const TraceScope without_sink("nobody"); });
  EXPECT_EQ(pool.RunUntilIdle(), 1);
}

// ---- on threads ----

class TimelineTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, TimelineTest, testing::Values(1, 2, 8), WorkerCountName);

void Tree(int depth) {
  if (depth == 0) return;
  const TraceScope scope("node");
  for (int child = 0; child < 2; ++child) Spawn([depth] { Tree(depth - 1); });
}

TEST_P(TimelineTest, HoldsEveryTaskEveryStealAndEveryPark) {
  Timeline timeline({.name = "tree", .spawns = true});
  WorkStealingPool pool({.workers = GetParam(), .trace = &timeline});
  for (int i = 0; i < 20; ++i) {
    Go(pool, [] { Tree(6); });
    ASSERT_TRUE(pool.RunOn(i, [] {}).ok());
  }
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  const WorkerStats total = Total(pool);
  const TraceReader trace(Text(timeline));
  EXPECT_EQ(trace.Count("task"), static_cast<std::size_t>(total.tasks));
  EXPECT_EQ(trace.Count("node"), 20u * 63);
  EXPECT_EQ(trace.Count("spawn"), 20u * 126);
  EXPECT_GE(trace.arrows(), static_cast<std::size_t>(total.from_steals));
  EXPECT_LE(trace.arrows(), static_cast<std::size_t>(total.from_steals + total.from_mailbox));
  EXPECT_EQ(trace.Has("parked") ? trace.Count("parked") : 0u,
            static_cast<std::size_t>(total.parks));
  EXPECT_EQ(trace.dropped(), 0);
}

TEST(TimelineThreadsTest, StealIsAnArrowFromTheVictimToTheTaskThatTheThiefRan) {
  Timeline timeline({.name = "pair"});
  WorkStealingPool pool({.workers = 2, .trace = &timeline});
  std::atomic<int> victim{-1};
  std::atomic<int> thief{-1};
  Go(pool, [&] {
    victim.store(WorkerContext::Current()->index());
    Spawn([&] { thief.store(WorkerContext::Current()->index()); });
    while (thief.load() < 0) sched_yield();
  });
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_NE(victim.load(), thief.load());
  EXPECT_EQ(TraceReader(Text(timeline)).arrows(), 1u);
}

TEST_P(TimelineTest, IsWrittenWhileThePoolWorks) {
  Timeline timeline({.max_spans = 100});
  WorkStealingPool pool({.workers = GetParam(), .trace = &timeline});
  for (int i = 0; i < 20; ++i) Go(pool, [] { Tree(6); });
  bool working = true;
  while (working) {
    working = pool.task_count() != 0;
    const TraceReader trace(Text(timeline));
  }
  EXPECT_GT(timeline.dropped(), 0);
}

TEST(TimelineThreadsTest, TwoPoolsStandInOneTrace) {
  Timeline compute({.name = "compute"});
  Timeline files({.name = "files"});
  {
    WorkStealingPool one({.workers = 1, .trace = &compute});
    WorkStealingPool two({.workers = 1, .trace = &files});
    Go(one, [&two] { Go(two, [] {}); });
    one.ShutdownAndWait(ShutdownMode::kDrain);
  }
  const std::array<const Timeline*, 2> both = {&compute, &files};
  std::ostringstream out;
  ASSERT_TRUE(WriteTimelines(both, out).ok());
  const TraceReader trace(out.str());
  EXPECT_EQ(trace.groups().at(1), "compute");
  EXPECT_EQ(trace.groups().at(2), "files");
  EXPECT_EQ(trace.tracks().at("2.1"), "files.worker.0");
  EXPECT_EQ(trace.Count("task"), 2u);
}

}  // namespace
}  // namespace jackdaw
