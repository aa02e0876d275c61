// The samples of the user guide about graphs of tasks; quoted there as those of
// tests/scheduler/async/guide_sync_test.cc are.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/functions.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

// sample: functions
// What tasks can do, by name. A task gets the outputs of those it comes after.
absl::Status RegisterWords(Functions& functions) {
  return functions.Register("join", [](Attempt& attempt) -> absl::StatusOr<Bytes> {
    std::string text(attempt.payload().view());
    for (std::size_t i = 0; i < attempt.input_count(); ++i) {
      absl::StrAppend(&text, attempt.input(i).view());
    }
    return Bytes(std::move(text));
  });
}
// end of sample

// sample: batch
// Adds a task of the first kind to `batch`, after others of it, and returns its place.
std::uint32_t AddTask(TaskBatch& batch, std::string payload, std::vector<std::uint32_t> after) {
  batch.kind.push_back(0);
  batch.payloads.emplace_back(std::move(payload));
  batch.dependency_count.push_back(static_cast<std::uint32_t>(after.size()));
  for (const std::uint32_t place : after) batch.dependencies.push_back(TaskBatch::InBatch(place));
  return static_cast<std::uint32_t>(batch.size() - 1);
}
// end of sample

TEST(GuideGraphTest, AGraph) {
  // sample: graph
  WorkStealingPool pool({.name = "compute", .workers = 2});
  TimerQueue timers;
  JobEngine engine({.pool = &pool, .timers = &timers});
  Functions functions;
  ASSERT_EQ(RegisterWords(functions), absl::OkStatus());

  TaskBatch batch;
  batch.kinds.push_back({functions.Find("join"), {}});
  const std::uint32_t hello = AddTask(batch, "hello ", {});
  const std::uint32_t world = AddTask(batch, "world", {});
  const std::uint32_t both = AddTask(batch, "", {hello, world});

  const std::shared_ptr<Job> job =
      engine.Create({.id = "greeting"}, std::move(batch), /*seal=*/true).value();
  job->Wait();
  EXPECT_EQ(job->state(), JobState::kSucceeded);
  EXPECT_EQ(job->Task(both).output.view(), "hello world");
  // end of sample
}

TEST(GuideGraphTest, APolicyAndACoroutine) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  TimerQueue timers;
  JobEngine engine({.pool = &pool, .timers = &timers});
  Functions functions;

  // sample: policy
  // A function that waits is a coroutine: it holds no worker meanwhile.
  ASSERT_EQ(functions.Register("poll",
                               [&timers](Attempt& attempt) -> CoTask<Bytes> {
                                 const Future<void> pause = Delay(timers, absl::Milliseconds(1));
                                 const absl::Status& waited = co_await pause;
                                 if (!waited.ok()) co_return waited;
                                 if (attempt.number() < 3) co_return absl::UnavailableError("busy");
                                 co_return Bytes("third time lucky");
                               }),
            absl::OkStatus());
  TaskPolicy policy;
  policy.retry.max_attempts = 5;
  policy.retry.initial_backoff = absl::Milliseconds(1);
  policy.attempt_timeout = absl::Seconds(30);

  TaskBatch batch;
  batch.kinds.push_back({functions.Find("poll"), policy});
  const std::uint32_t task = AddTask(batch, "", {});
  // end of sample

  const std::shared_ptr<Job> job =
      engine.Create({.id = "polling"}, std::move(batch), /*seal=*/true).value();
  job->Wait();
  EXPECT_EQ(job->state(), JobState::kSucceeded) << job->Snapshot().status;
  EXPECT_EQ(job->Task(task).attempts, 3);
  EXPECT_EQ(job->Task(task).output.view(), "third time lucky");
}

TEST(GuideGraphTest, ACancel) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  TimerQueue timers;
  JobEngine engine({.pool = &pool, .timers = &timers});
  Functions functions;
  ASSERT_EQ(RegisterWords(functions), absl::OkStatus());
  TaskBatch batch;
  batch.kinds.push_back({functions.Find("join"), {}});
  AddTask(batch, "x", {});

  // sample: cancel-a-job
  const std::shared_ptr<Job> job =
      engine.Create({.id = "open"}, std::move(batch), /*seal=*/false).value();
  job->Cancel(absl::CancelledError("the user left"));  // Also one that still takes tasks.
  job->Wait();
  EXPECT_EQ(job->state(), JobState::kCancelled);
  // end of sample
}

}  // namespace
}  // namespace jackdaw
