// The graph's small parts, one by one and on one thread but where it says otherwise.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "scheduler/graph/action_stats.h"
#include "scheduler/graph/change_log.h"
#include "scheduler/graph/concurrency_limit.h"
#include "scheduler/graph/names.h"
#include "scheduler/graph/ready_queue.h"
#include "scheduler/graph/task_cell.h"
#include "scheduler/graph/task_times.h"
#include "tests/scheduler/graph/graph_fixture.h"

namespace jackdaw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NameTableTest, TaskWithoutAnIdGoesByItsIndex) {
  NameTable names;
  ASSERT_TRUE(names.AddAll({"a", "", "c"}, 0, 3).ok());
  ASSERT_TRUE(names.AddAll({}, 3, 2).ok());
  EXPECT_EQ(names.NameOf(0), "a");
  EXPECT_EQ(names.NameOf(1), "1");
  EXPECT_EQ(names.NameOf(4), "4");
  EXPECT_EQ(names.Find("c", 5), 2u);
  EXPECT_EQ(names.Find("4", 5), 4u);
  EXPECT_EQ(names.Find("5", 5), std::nullopt);
  EXPECT_EQ(names.Find("04", 5), std::nullopt);
  EXPECT_EQ(names.Find("", 5), std::nullopt);
}

TEST(NameTableTest, IdTakenTwiceIsRefusedAndNothingIsAdded) {
  NameTable names;
  ASSERT_TRUE(names.AddAll({"a"}, 0, 1).ok());
  EXPECT_EQ(names.AddAll({"b", "a"}, 1, 2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(names.AddAll({"b", "b"}, 1, 2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(names.Find("b", 1), std::nullopt);
  EXPECT_TRUE(names.AddAll({"b"}, 1, 1).ok());
}

TEST(ChangeLogTest, BeforeRecordingEveryQuestionIsAResync) {
  ChangeLog log;
  log.Add(3, {});
  EXPECT_EQ(log.revision(), 4u);
  EXPECT_TRUE(log.Since(1).resync);
  EXPECT_FALSE(log.Since(4).resync);
}

TEST(ChangeLogTest, TellsEachChangedTaskOnce) {
  ChangeLog log;
  log.StartRecording();
  const std::uint64_t before = log.revision();
  log.Add(3, {7, 3, 7});
  log.AddJobChange();
  const JobChanges changes = log.Since(before);
  EXPECT_FALSE(changes.resync);
  EXPECT_THAT(changes.tasks, ElementsAre(3, 7));
  EXPECT_EQ(changes.revision, before + 4);
  EXPECT_THAT(log.Since(changes.revision).tasks, IsEmpty());
  EXPECT_TRUE(log.Since(0).resync);
  EXPECT_TRUE(log.Since(changes.revision + 1).resync);
}

TEST(ChangeLogTest, WatcherAFullRingBehindIsToldAndOneFurtherReadsAnew) {
  ChangeLog log;
  log.StartRecording();
  const std::uint64_t before = log.revision();
  for (TaskIndex i = 0; i < ChangeLog::kCapacity; ++i) log.Add(1, {i});
  EXPECT_EQ(log.Since(before).tasks.size(), ChangeLog::kCapacity);
  log.Add(1, {1});
  EXPECT_TRUE(log.Since(before).resync);
  EXPECT_EQ(log.Since(before + 1).tasks.size(), ChangeLog::kCapacity - 1);
  EXPECT_FALSE(log.Since(before + 1).resync);
}

TEST(ChangeLogTest, ChangesThatNobodyListedAreAResync) {
  ChangeLog log;
  log.StartRecording();
  const std::uint64_t before = log.revision();
  log.Add(2, {});
  EXPECT_TRUE(log.Since(before).resync);
  EXPECT_FALSE(log.Since(before + 2).resync);
}

TEST(ActionStatsTest, SpanFallsInTheFirstBucketThatHoldsIt) {
  EXPECT_DOUBLE_EQ(ActionStats::BucketBoundSeconds(0), 1e-6);
  EXPECT_DOUBLE_EQ(ActionStats::BucketBoundSeconds(2), 16e-6);
  ActionStats stats("test");
  stats.RecordAttempts(0, /*queue_ns=*/0, /*run_ns=*/1000);
  stats.RecordAttempts(0, /*queue_ns=*/1001, /*run_ns=*/4000);
  stats.RecordAttempts(0, /*queue_ns=*/4001, /*run_ns=*/16000);
  stats.RecordAttempts(0, /*queue_ns=*/1'000'000'000'000, /*run_ns=*/16001);
  const ActionStats::Snapshot seen = stats.Read();
  EXPECT_EQ(seen.attempts, 4);
  EXPECT_THAT(seen.queue_time.counts, ElementsAre(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(seen.run_time.counts, ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_NEAR(seen.run_time.sum_seconds, 37001e-9, 1e-12);
}

TEST(ActionStatsTest, SumsWorkersAndManyThreadsInTheSharedCell) {
  constexpr int kThreads = 4;
  constexpr int kRecords = 10'000;
  ActionStats stats("test");
  stats.RecordEnd(0, TaskState::kSucceeded, 5);
  stats.RecordEnd(63, TaskState::kSucceeded, 7);
  stats.RecordRetry(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    // Workers beyond the cells share one with the threads that are no workers.
    threads.emplace_back([&stats, worker = t % 2 == 0 ? ActionStats::kNoWorker : 64 + t] {
      for (int i = 0; i < kRecords; ++i) {
        stats.RecordAttempts(worker, 100, 200);
        stats.RecordEnd(worker, TaskState::kFailed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ActionStats::Snapshot seen = stats.Read();
  EXPECT_EQ(seen.ended[static_cast<std::size_t>(TaskState::kSucceeded)], 12);
  EXPECT_EQ(seen.ended[static_cast<std::size_t>(TaskState::kFailed)], kThreads * kRecords);
  EXPECT_EQ(seen.attempts, kThreads * kRecords);
  EXPECT_EQ(seen.retries, 1);
  EXPECT_NEAR(seen.queue_time.sum_seconds, kThreads * kRecords * 100e-9, 1e-9);
}

TEST(ConcurrencyLimitTest, SlotGivenBackIsPromisedToTheOneThatWaitedLongest) {
  TaskKind kind;
  TaskCell a(&kind, 0), b(&kind, 1), c(&kind, 2);
  ConcurrencyLimit limit(1);
  EXPECT_TRUE(limit.Acquire(&a));
  EXPECT_FALSE(limit.Acquire(&b));
  EXPECT_FALSE(limit.Acquire(&c));
  EXPECT_EQ(limit.waiting(), 2);
  EXPECT_EQ(limit.Release(), &b);
  EXPECT_EQ(limit.in_use(), 1);  // The promise holds it.
  EXPECT_FALSE(limit.Acquire(&a));
  EXPECT_TRUE(limit.Acquire(&b));
  EXPECT_EQ(limit.Release(), &c);
  EXPECT_EQ(limit.Forget(&c), &a);
  EXPECT_EQ(limit.Forget(&c), nullptr);  // It has none any more.
  EXPECT_EQ(limit.Forget(&a), nullptr);
  EXPECT_EQ(limit.in_use(), 0);
  EXPECT_EQ(limit.waiting(), 0);
}

TEST(ReadyQueueTest, HighestBandFirstAndOldestFirstWithin) {
  ReadyQueue queue;
  for (TaskIndex i = 0; i < 9; ++i) queue.Push(i, static_cast<Priority>(i % kPriorityCount));
  std::vector<TaskIndex> order;
  while (!queue.empty()) {
    order.push_back(queue.Front());
    ASSERT_EQ(queue.Pop(), order.back());
  }
  EXPECT_THAT(order, ElementsAre(2, 5, 8, 1, 4, 7, 0, 3, 6));
}

TEST(ReadyQueueTest, KeepsItsOrderWhileItGivesMemoryBack) {
  ReadyQueue queue;
  TaskIndex pushed = 0;
  TaskIndex popped = 0;
  while (popped < 1000) {
    for (int n = 0; n < 3 && pushed < 1000; ++n) queue.Push(pushed++, Priority::kNormal);
    for (int n = 0; n < 2 && popped < 1000; ++n) ASSERT_EQ(queue.Pop(), popped++);
    ASSERT_EQ(queue.size(), pushed - popped);
  }
}

// What TaskTimes keeps is as near as its unit and seven digits allow.
void ExpectNear(std::int64_t ns, std::int64_t expected_ns, std::int64_t span_ns) {
  EXPECT_LE(std::abs(ns - expected_ns), 64 + span_ns / 4'000'000) << ns << " " << expected_ns;
}

TEST(TaskTimesTest, TellsEachTimeFromItsCallOn) {
  TaskTimes times;
  EXPECT_LT(times.Read().queued_ns, 0);
  constexpr std::int64_t kQueued = 1'000'000'000'123;  // A quarter of an hour after creation.
  constexpr std::int64_t kWaited = 3'600'000'000'456;
  constexpr std::int64_t kRan = 86'400'000'000'789;
  times.Queued(TaskTimes::Stamp(kQueued));
  ExpectNear(times.Read().queued_ns, kQueued, 0);
  EXPECT_LT(times.Read().started_ns, 0);
  times.Started(TaskTimes::Stamp(kQueued + kWaited), StartedBy{.worker = 7, .stolen = true}.Pack());
  ExpectNear(times.Read().queued_ns, kQueued, kWaited);
  ExpectNear(times.Read().started_ns, kQueued + kWaited, 0);
  EXPECT_EQ(times.Read().ended_ns, times.Read().started_ns);
  times.Ended(TaskTimes::Stamp(kQueued + kWaited + kRan));
  ExpectNear(times.Read().ended_ns, kQueued + kWaited + kRan, kRan);
  EXPECT_EQ(times.Read().by.worker, 7);
  EXPECT_TRUE(times.Read().by.stolen);
}

TEST(TaskTimesTest, NextAttemptStartsAnew) {
  TaskTimes times;
  times.Queued(TaskTimes::Stamp(0));
  ExpectNear(times.Read().queued_ns, 0, 0);
  times.Started(TaskTimes::Stamp(6400), StartedBy{.worker = 0, .stolen = false}.Pack());
  times.Ended(TaskTimes::Stamp(64000));
  times.Queued(TaskTimes::Stamp(640000));
  EXPECT_EQ(times.Read().queued_ns, 640000);
  EXPECT_LT(times.Read().started_ns, 0);
  times.Started(TaskTimes::Stamp(640064), StartedBy{.worker = 3, .stolen = false}.Pack());
  EXPECT_EQ(times.Read().queued_ns, 640000);
  EXPECT_EQ(times.Read().started_ns, 640064);
  EXPECT_EQ(times.Read().ended_ns, 640064);
  EXPECT_EQ(times.Read().by.worker, 3);
  EXPECT_FALSE(times.Read().by.stolen);
}

// The instants that a worker takes beside the first, at 0 workers, in the order they ran.
std::vector<TaskIndex> OrderOfInstants(const std::vector<Priority>& priorities) {
  EngineHarness h(0);
  std::vector<TaskIndex> order;
  BatchBuilder b;
  const auto action = MakeAction(
      [&order](Attempt& attempt) {
        order.push_back(static_cast<TaskIndex>(std::stoul(attempt.task_id())));
        return Ok();
      },
      {.instant = true});
  for (const Priority priority : priorities) {
    TaskPolicy policy;
    policy.priority = priority;
    b.Task(action, policy);
  }
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  return order;
}

TEST(FeederTest, InstantsRunOldestFirst) {
  const std::vector<TaskIndex> order = OrderOfInstants(std::vector<Priority>(500));
  ASSERT_EQ(order.size(), 500u);
  // The pool looks at the far end of a deque now and then: not quite in order, within one deal.
  constexpr int kDealt = 32;
  for (int place = 0; place < 500; ++place) {
    const int task = static_cast<int>(order[static_cast<std::size_t>(place)]);
    ASSERT_LE(std::abs(task - place), kDealt) << "task " << task;
  }
}

TEST(FeederTest, InstantsOfHigherPriorityRunFirst) {
  std::vector<Priority> priorities(500, Priority::kLow);
  for (std::size_t i = 250; i < 500; ++i) priorities[i] = Priority::kHigh;
  const std::vector<TaskIndex> order = OrderOfInstants(priorities);
  ASSERT_EQ(order.size(), 500u);
  EXPECT_TRUE(
      std::all_of(order.begin(), order.begin() + 250, [](TaskIndex i) { return i >= 250; }));
}

TEST(WatcherTest, AddingTasksThatAllWaitIsTold) {
  EngineHarness h(0);
  BatchBuilder first;
  first.Task(Noop());
  auto job = h.Create(first.Take(), /*seal=*/false);
  int told = 0;
  const Job::WatcherId watcher = job->AddWatcher([&told] { ++told; });
  const std::uint64_t before = job->Snapshot().revision;
  BatchBuilder second;
  second.Task(Noop(), {}, {0});
  ASSERT_TRUE(job->Add(second.Take()).ok());
  EXPECT_GT(told, 0);
  EXPECT_GT(job->ChangesSince(before).revision, before);
  job->RemoveWatcher(watcher);
}

}  // namespace
}  // namespace jackdaw
