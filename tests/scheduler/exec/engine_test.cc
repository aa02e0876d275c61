// Functions and commands as tasks of real jobs, at 0, 1, 2 and 8 workers.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/commands.h"
#include "scheduler/exec/functions.h"
#include "scheduler/exec/stock_functions.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

class ExecEngineTest : public ::testing::TestWithParam<int> {
 protected:
  ExecEngineTest() {
    EXPECT_TRUE(RegisterStockFunctions(functions_, timers_).ok());
    Commands::Options options;
    options.allow_all = true;
    options.max_running = 2;
    commands_ = std::make_unique<Commands>(options);
  }

  std::shared_ptr<Action> Command(std::vector<std::string> argv,
                                  CommandSpec::Stdin from = CommandSpec::Stdin::kEmpty) {
    CommandSpec spec;
    spec.argv = std::move(argv);
    spec.stdin_from = from;
    return commands_->Make(std::move(spec)).value();
  }
  // Adds a task and returns its position.
  std::uint32_t Add(std::shared_ptr<Action> action, std::string payload,
                    const std::vector<std::uint32_t>& after = {}, TaskPolicy policy = {}) {
    batch_.kind.push_back(static_cast<std::uint32_t>(batch_.kinds.size()));
    batch_.kinds.push_back({std::move(action), std::move(policy)});
    batch_.dependency_count.push_back(static_cast<std::uint32_t>(after.size()));
    for (const std::uint32_t d : after) batch_.dependencies.push_back(TaskBatch::InBatch(d));
    batch_.payloads.emplace_back(std::move(payload));
    return batch_.kind.back();
  }
  std::shared_ptr<Job> Start() {
    JobOptions options;
    options.id = "job";
    return engine_.Create(options, std::move(batch_), /*seal=*/true).value();
  }
  // Where there is no worker, this thread works, also on what the engine still has to put away.
  void Finish(Job& job) {
    if (GetParam() > 0) return job.Wait();
    while (!IsTerminal(job.state()) || engine_.stats().jobs_active > 0) pool_.RunOne();
  }

  Functions functions_;
  WorkStealingPool pool_{{.workers = GetParam()}};
  TimerQueue timers_;
  std::unique_ptr<Commands> commands_;
  JobEngine engine_{{.pool = &pool_, .timers = &timers_}};
  TaskBatch batch_;
};

TEST_P(ExecEngineTest, AGraphOfCommandsAndFunctionsPassesItsDataOn) {
  const auto abc = Add(functions_.Find("echo"), "c\na\nb\n");
  const auto more = Add(Command({"echo", "d"}), "");
  const auto sorted = Add(Command({"sort", "-r"}, CommandSpec::Stdin::kInputs), "", {abc, more});
  const auto joined = Add(functions_.Find("concat"), "", {sorted, more});
  const auto job = Start();
  Finish(*job);
  EXPECT_EQ(job->state(), JobState::kSucceeded) << job->Snapshot().status;
  EXPECT_EQ(job->Task(joined).output.view(), "d\nc\nb\na\nd\n");
}

TEST_P(ExecEngineTest, AFailedCommandKeepsItsLogAndIsTriedAgain) {
  TaskPolicy policy;
  policy.retry.max_attempts = 2;
  policy.retry.initial_backoff = absl::Milliseconds(1);
  const auto task =
      Add(Command({"sh", "-c", "echo attempt $JACKDAW_ATTEMPT >&2; exit 4"}), "", {}, policy);
  const auto job = Start();
  Finish(*job);
  const TaskSnapshot snapshot = job->Task(task);
  EXPECT_EQ(snapshot.state, TaskState::kFailed);
  ASSERT_EQ(snapshot.attempt_records.size(), 2u);
  EXPECT_EQ(snapshot.attempt_records[0].log.view(), "attempt 1\n");
  EXPECT_EQ(snapshot.attempt_records[1].status, absl::UnknownError("exit status 4: attempt 2"));
}

TEST_P(ExecEngineTest, ACommandThatTakesTooLongIsEnded) {
  TaskPolicy policy;
  policy.attempt_timeout = absl::Milliseconds(50);
  const auto task = Add(Command({"sleep", "1000"}), "", {}, policy);
  const auto job = Start();
  Finish(*job);
  EXPECT_EQ(job->Task(task).state, TaskState::kFailed);
  EXPECT_EQ(job->Task(task).status.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_P(ExecEngineTest, ACancelledJobEndsItsCommandsAndSleeps) {
  for (int i = 0; i < 5; ++i) Add(Command({"sleep", "1000"}), "");
  for (int i = 0; i < 5; ++i) Add(functions_.Find("sleep"), "1000s");
  const auto job = Start();
  job->Cancel(absl::CancelledError("enough"));
  Finish(*job);
  EXPECT_EQ(job->state(), JobState::kCancelled);
  EXPECT_EQ(commands_->running(), 0);
  EXPECT_EQ(timers_.size(), 0);
}

TEST_P(ExecEngineTest, ManyCommandsOfManyKindsShareTheLimit) {
  for (int i = 0; i < 100; ++i) Add(Command({"echo", absl::StrCat(i)}), "");
  const auto job = Start();
  Finish(*job);
  EXPECT_EQ(job->state(), JobState::kSucceeded) << job->Snapshot().status;
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(job->Task(i).output.view(), absl::StrCat(i, "\n"));
  }
  EXPECT_EQ(commands_->stats()[0]->Read().attempts, 100);
}

TEST_P(ExecEngineTest, ACoroutineIsAFunction) {
  TimerQueue& timers = timers_;
  ASSERT_TRUE(functions_
                  .Register("nap",
                            [&timers](Attempt& attempt) -> CoTask<Bytes> {
                              const Future<void> pause = Delay(timers, absl::Milliseconds(1));
                              co_await pause;
                              co_return Bytes::Copy(
                                  absl::StrCat(attempt.payload().view(), attempt.input(0).view()));
                            })
                  .ok());
  ASSERT_TRUE(functions_
                  .Register("bad",
                            [](Attempt& attempt) -> CoTask<Bytes> {
                              if (attempt.number() == 1) co_return absl::NotFoundError("no such");
                              co_return Bytes();
                            })
                  .ok());
  const auto input = Add(functions_.Find("echo"), "in");
  const auto nap = Add(functions_.Find("nap"), "pay", {input});
  const auto bad = Add(functions_.Find("bad"), "");
  const auto job = Start();
  Finish(*job);
  EXPECT_EQ(job->Task(nap).output.view(), "payin") << job->Task(nap).status;
  EXPECT_EQ(job->Task(bad).status.code(), absl::StatusCode::kNotFound);
}

TEST_P(ExecEngineTest, ACoroutineLearnsOfACancel) {
  TimerQueue& timers = timers_;
  ASSERT_TRUE(functions_
                  .Register("forever",
                            [&timers](Attempt&) -> CoTask<Bytes> {
                              while (true) {
                                const bool stop = co_await CancelRequested();
                                if (stop) co_return absl::CancelledError("stopped");
                                const Future<void> pause = Delay(timers, absl::Milliseconds(1));
                                co_await pause;
                              }
                            })
                  .ok());
  TaskPolicy policy;
  policy.attempt_timeout = absl::Milliseconds(20);
  const auto late = Add(functions_.Find("forever"), "", {}, policy);
  const auto job = Start();
  Finish(*job);
  EXPECT_EQ(job->Task(late).status.code(), absl::StatusCode::kDeadlineExceeded);
}

INSTANTIATE_TEST_SUITE_P(Workers, ExecEngineTest, ::testing::Values(0, 1, 2, 8));

}  // namespace
}  // namespace jackdaw
