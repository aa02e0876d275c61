#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "tests/scheduler/graph/graph_fixture.h"

namespace jackdaw {
namespace {

class AttemptsTest : public GraphTestBase {};
INSTANTIATE_TEST_SUITE_P(Workers, AttemptsTest, testing::Values(0, 1, 2, 8), WorkersName);

TaskPolicy Retrying(int attempts, absl::Duration backoff = absl::Seconds(1)) {
  TaskPolicy policy;
  policy.retry.max_attempts = attempts;
  policy.retry.initial_backoff = backoff;
  policy.retry.max_backoff = absl::Hours(1);
  policy.retry.jitter = 0;
  return policy;
}

// Keeps its attempt until the test ends it; counts calls to stop.
struct Detacher {
  absl::Mutex mutex;
  std::vector<std::shared_ptr<DetachedAttempt>> attempts;
  std::atomic<int> detached{0};
  std::atomic<int> stops{0};
  std::atomic<absl::StatusCode> code{absl::StatusCode::kOk};

  std::shared_ptr<Action> Make(LambdaAction::Options options = {}) {
    return MakeAction(
        [this](Attempt& attempt) -> std::optional<Outcome> {
          auto one = attempt.Detach([this](const absl::Status& reason) {
            code = reason.code();
            ++stops;
          });
          absl::MutexLock lock(&mutex);
          attempts.push_back(std::move(one));
          ++detached;
          return std::nullopt;
        },
        options);
  }
  std::shared_ptr<DetachedAttempt> At(std::size_t i) {
    absl::MutexLock lock(&mutex);
    return attempts[i];
  }
};

TEST_P(AttemptsTest, BackoffGrowsAndTheRecordsSayWhatHappened) {
  BatchBuilder b;
  b.Task(MakeAction([](Attempt& attempt) {
           return attempt.number() < 3 ? Failure(absl::UnavailableError("not yet")) : Ok("3");
         }),
         Retrying(3));
  auto job = h.Create(b.Take());
  const auto in_backoff = [&] {
    return job->task_state(0) == TaskState::kBackoff && h.timers().size() == 1;
  };
  h.Until(in_backoff);
  h.Advance(absl::Milliseconds(999));
  EXPECT_EQ(job->task_state(0), TaskState::kBackoff);
  h.Advance(absl::Milliseconds(1));
  h.Until([&] { return in_backoff() && job->Task(0).attempts == 2; });
  h.Advance(absl::Milliseconds(1999));
  EXPECT_EQ(job->task_state(0), TaskState::kBackoff);
  h.Advance(absl::Milliseconds(1));
  h.UntilDone(*job);
  const TaskSnapshot task = job->Task(0);
  EXPECT_EQ(task.output.view(), "3");
  ASSERT_EQ(task.attempt_records.size(), 3u);
  EXPECT_EQ(task.attempt_records[0].status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(task.attempt_records[2].started - task.attempt_records[0].started, absl::Seconds(3));
}

TEST_P(AttemptsTest, NeverMoreThanTheBoundOfRecordsAndNoStaleEndWhileRunning) {
  Detacher last;
  auto detach = last.Make();
  BatchBuilder b;
  b.Task(MakeAction([&](Attempt& attempt) -> std::optional<Outcome> {
           if (attempt.number() < 17) return Failure(absl::UnavailableError("x"));
           return detach->Start(attempt);
         }),
         Retrying(17, absl::ZeroDuration()));
  auto job = h.Create(b.Take());
  h.Until([&] {
    h.Advance(absl::ZeroDuration());
    return last.detached == 1;
  });
  const TaskSnapshot task = job->Task(0);
  EXPECT_EQ(task.attempts, 17);
  ASSERT_EQ(task.attempt_records.size(), Job::kMaxAttemptRecords);
  EXPECT_EQ(task.attempt_records.back().number, 17);
  EXPECT_EQ(task.attempt_records.back().ended, absl::InfiniteFuture());
  last.At(0)->Finish(Ok());
  h.UntilDone(*job);
}

TEST_P(AttemptsTest, CancelledTasksLeaveNoTimers) {
  constexpr int kTasks = 100;
  ConcurrencyLimit limit(1);
  Detacher holder;
  TaskPolicy hour;
  hour.queue_timeout = absl::Hours(1);
  hour.attempt_timeout = absl::Hours(1);
  BatchBuilder b;
  const std::uint32_t held = b.Kind(holder.Make({.limit = &limit}), hour);
  const std::uint32_t failing =
      b.Kind(MakeAction([](Attempt&) { return Failure(absl::UnavailableError("later")); }),
             Retrying(2, absl::Hours(1)));
  for (int i = 0; i < kTasks; ++i) {
    b.Task(held);
    b.Task(failing);
  }
  auto job = h.Create(b.Take());
  const auto count = [&](TaskState state) {
    return job->Snapshot().tasks[static_cast<std::size_t>(state)];
  };
  h.Until([&] {
    return holder.detached == 1 && count(TaskState::kBackoff) == kTasks &&
           limit.waiting() == kTasks - 1;
  });
  EXPECT_EQ(h.timers().size(), 2 * kTasks);
  job->Cancel(absl::CancelledError("enough"));
  EXPECT_EQ(h.timers().size(), 1);  // The attempt that has not ended.
  holder.At(0)->Finish(Failure(absl::CancelledError("stopped")));
  h.UntilDone(*job);
  EXPECT_EQ(h.timers().size(), 0);
  EXPECT_EQ(count(TaskState::kCancelled), 2 * kTasks);
  h.Until([&] { return h.engine().stats().jobs_active == 0; });  // They come by the limit still.
}

TEST_P(AttemptsTest, ADetachedAttemptThatTimesOutIsToldAndFails) {
  Detacher d;
  TaskPolicy policy;
  policy.attempt_timeout = absl::Seconds(5);
  BatchBuilder b;
  b.Task(d.Make(), policy);
  auto job = h.Create(b.Take());
  h.Until([&] { return d.detached == 1; });
  h.Advance(absl::Seconds(5));
  EXPECT_EQ(d.stops, 1);
  EXPECT_EQ(d.code.load(), absl::StatusCode::kDeadlineExceeded);
  d.At(0)->Finish(Failure(absl::CancelledError("stopped")));
  d.At(0)->Finish(Ok("twice"));
  h.UntilDone(*job);
  EXPECT_EQ(job->Task(0).status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(job->state(), JobState::kFailed);
}

TEST_P(AttemptsTest, ACancelledAttemptThatTimesOutAfterwardsIsCancelled) {
  Detacher d;
  TaskPolicy policy = Retrying(3);
  policy.attempt_timeout = absl::Seconds(5);
  BatchBuilder b;
  b.Task(d.Make(), policy);
  auto job = h.Create(b.Take());
  h.Until([&] { return d.detached == 1; });
  job->Cancel(absl::CancelledError("enough"));
  job->Cancel(absl::InternalError("the second counts for nothing"));
  EXPECT_EQ(job->state(), JobState::kCancelling);
  h.Advance(absl::Seconds(5));
  h.UntilDone(*job);
  EXPECT_EQ(d.stops, 1);
  EXPECT_EQ(job->task_state(0), TaskState::kCancelled);
  EXPECT_EQ(job->state(), JobState::kCancelled);
}

// Symptom: the callback of the attempt that was given up stayed, and kept the job alive.
TEST(GivenUpAttemptTest, OneThatDetachesAfterwardsIsStoppedAtOnce) {
  EngineHarness h(2);
  Detacher d;
  auto detach = d.Make();
  absl::Notification entered;
  absl::Notification given_up;
  TaskPolicy policy = Retrying(2, absl::ZeroDuration());
  policy.attempt_timeout = absl::Seconds(5);
  BatchBuilder b;
  b.Task(MakeAction([&](Attempt& attempt) -> std::optional<Outcome> {
           if (attempt.number() == 2) return Ok("second");
           entered.Notify();
           given_up.WaitForNotification();
           EXPECT_TRUE(attempt.stop_requested());
           return detach->Start(attempt);
         }),
         policy);
  auto job = h.Create(b.Take());
  entered.WaitForNotification();
  h.Advance(absl::Seconds(5));
  EXPECT_EQ(job->task_state(0), TaskState::kBackoff);
  given_up.Notify();
  h.Until([&] { return d.stops == 1; });
  EXPECT_EQ(d.code.load(), absl::StatusCode::kDeadlineExceeded);
  h.Advance(absl::ZeroDuration());
  h.UntilDone(*job);
  h.Until([&] { return d.detached == 1; });
  d.At(0)->Finish(Ok("first"));
  EXPECT_EQ(job->Task(0).output.view(), "second");
}

TEST_P(AttemptsTest, AQueueTimeoutFailsATaskThatWaitsForASlot) {
  ConcurrencyLimit limit(1);
  Detacher d;
  TaskPolicy policy;
  policy.queue_timeout = absl::Seconds(5);
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(d.Make({.limit = &limit}), policy);
  b.Task(kind);
  b.Task(kind);
  auto job = h.Create(b.Take());
  h.Until([&] { return d.detached == 1 && limit.waiting() == 1; });
  h.Advance(absl::Seconds(5));
  EXPECT_EQ(job->Snapshot().tasks[static_cast<std::size_t>(TaskState::kFailed)], 1);
  d.At(0)->Finish(Ok());
  h.UntilDone(*job);
  EXPECT_EQ(job->state(), JobState::kFailed);
  h.Until([&] { return limit.in_use() == 0; });
}

TEST_P(AttemptsTest, CancelsLeakNoSlot) {
  ConcurrencyLimit limit(3);
  Detacher d;
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(d.Make({.limit = &limit}));
  for (int i = 0; i < 50; ++i) b.Task(kind);
  auto job = h.Create(b.Take());
  h.Until([&] { return d.detached == 3 && limit.waiting() == 47; });
  job->Cancel(absl::AbortedError("enough"));
  EXPECT_EQ(d.stops, 3);
  EXPECT_EQ(d.code.load(), absl::StatusCode::kCancelled);
  for (int i = 0; i < 3; ++i)
    d.At(static_cast<std::size_t>(i))->Finish(Failure(absl::CancelledError("")));
  h.UntilDone(*job);
  h.Until([&] { return limit.in_use() == 0 && limit.waiting() == 0; });
}

TEST_P(AttemptsTest, AnAttemptThatIsDroppedUnfinishedFails) {
  BatchBuilder b;
  b.Task(MakeAction([](Attempt& attempt) -> std::optional<Outcome> {
    (void)attempt.Detach([](const absl::Status&) {});
    return std::nullopt;
  }));
  auto job = h.Create(b.Take());
  h.UntilDone(*job);
  EXPECT_EQ(job->Task(0).status.code(), absl::StatusCode::kInternal);
}

TEST_P(AttemptsTest, CancelInBackoffEndsTheTask) {
  BatchBuilder b;
  b.Task(MakeAction([](Attempt&) { return Failure(absl::UnavailableError("x")); }), Retrying(9));
  auto job = h.Create(b.Take());
  h.Until([&] { return job->task_state(0) == TaskState::kBackoff && h.timers().size() == 1; });
  job->Cancel(absl::CancelledError("enough"));
  EXPECT_EQ(job->state(), JobState::kCancelled);
  h.Advance(absl::Hours(1));
  EXPECT_EQ(job->task_state(0), TaskState::kCancelled);
}

TEST_P(AttemptsTest, AJobTimeoutFailsTheJob) {
  Detacher d;
  BatchBuilder b;
  const std::uint32_t first = b.Task(d.Make());
  b.Task(Noop(), {}, {first});
  auto job = h.Create(b.Take(), true, {.id = {}, .timeout = absl::Seconds(7)});
  h.Until([&] { return d.detached == 1; });
  h.Advance(absl::Seconds(7));
  EXPECT_EQ(d.code.load(), absl::StatusCode::kDeadlineExceeded);
  d.At(0)->Finish(Failure(absl::CancelledError("")));
  h.UntilDone(*job);
  EXPECT_EQ(job->state(), JobState::kFailed);
  EXPECT_EQ(job->Snapshot().status.code(), absl::StatusCode::kDeadlineExceeded);
}

// Symptom: tasks in the ready queue of a pool that was shut down kept their job, and the
// engine's destructor waited for ever; a dropped task kept the slot promised to it.
TEST_P(AttemptsTest, TheEngineCanBeDestroyedAfterItsPoolWasShutDown) {
  ConcurrencyLimit limit(1);
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(Noop({.limit = &limit}));
  for (int i = 0; i < 500; ++i) b.Task(kind);
  auto job = h.Create(b.Take());
  h.pool().ShutdownAndWait(ShutdownMode::kCancel);
  h.engine().CancelAll(absl::CancelledError("shut down"));
  h.Until([&] { return IsTerminal(job->state()); });
  h.DestroyEngine();
  EXPECT_EQ(limit.in_use(), 0);
}

}  // namespace
}  // namespace jackdaw
