// JobTable without a server: request ids over time, limits, forgetting.

#include "server/job_table.h"

#include <gtest/gtest.h>

#include "scheduler/async/timer_queue.h"
#include "scheduler/graph/engine.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

class Nothing final : public Action {
 public:
  Nothing() : Action("function", std::make_shared<ActionStats>("nothing")) {}
  std::optional<Outcome> Start(Attempt&) override { return Outcome(); }
};

class JobTableTest : public ::testing::Test {
 protected:
  JobTableTest()
      : pool_({.workers = 0}),
        engine_({&pool_, &timers_, &clock_, 1}),
        table_(std::make_shared<JobTable>(Limits(), clock_, 1)) {}
  ~JobTableTest() override { pool_.RunUntilIdle(); }

  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_active_jobs = 3;
    limits.max_done_jobs = 2;
    limits.max_request_ids = 2;
    limits.request_id_retention = absl::Seconds(60);
    return limits;
  }

  // Admits and makes a job of one task, which runs when the pool does.
  JobEntry Make(const JobTable::Request& request) {
    auto admission = table_->Admit(request);
    EXPECT_TRUE(admission.ok()) << admission.status();
    if (!admission.ok() || admission->earlier.job != nullptr) return {};
    TaskBatch batch;
    batch.kinds.push_back({std::make_shared<Nothing>(), {}});
    batch.kind = {0};
    batch.dependency_count = {0};
    JobOptions options;
    options.id = admission->job_id;
    auto job = engine_.Create(std::move(options), std::move(batch), true);
    EXPECT_TRUE(job.ok()) << job.status();
    return table_->Commit(request, *std::move(job), std::make_shared<const JobSpec>());
  }

  static JobTable::Request Asked(const std::string& request_id, std::uint64_t fingerprint = 1) {
    JobTable::Request request;
    request.request_id = request_id;
    request.fingerprint = fingerprint;
    request.tasks = 1;
    return request;
  }

  FakeClock clock_;
  TimerQueue timers_{&clock_, TimerQueue::Drive::kManual};
  WorkStealingPool pool_;
  JobEngine engine_;
  std::shared_ptr<JobTable> table_;
};

TEST_F(JobTableTest, ARequestIdIsForgottenAfterItsTime) {
  const JobEntry first = Make(Asked("r"));
  clock_.Advance(absl::Seconds(59));
  auto again = table_->Admit(Asked("r"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->earlier.job, first.job);
  clock_.Advance(absl::Seconds(2));
  EXPECT_NE(Make(Asked("r")).job, nullptr);
}

TEST_F(JobTableTest, TheOldestRequestIdGoesWhenThereAreTooMany) {
  Make(Asked("a"));
  Make(Asked("b"));
  Make(Asked("c"));
  pool_.RunUntilIdle();
  EXPECT_NE(Make(Asked("a")).job, nullptr);
}

TEST_F(JobTableTest, AnotherRequestWithTheSameIdIsRefused) {
  Make(Asked("r", 1));
  EXPECT_EQ(table_->Admit(Asked("r", 2)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(JobTableTest, ARepeatWhileTheFirstIsUnderWayIsToldToWait) {
  auto first = table_->Admit(Asked("r"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(table_->Admit(Asked("r")).status().code(), absl::StatusCode::kAborted);
  table_->Abandon(Asked("r"), *first);
  EXPECT_NE(Make(Asked("r")).job, nullptr);
}

TEST_F(JobTableTest, ARepeatAfterTheJobWasDeletedDoesNotRunItAgain) {
  const JobEntry entry = Make(Asked("r"));
  pool_.RunUntilIdle();
  ASSERT_TRUE(table_->Delete(entry.job->id()).ok());
  EXPECT_EQ(table_->Admit(Asked("r")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(JobTableTest, AnAbandonedPlaceIsGivenBack) {
  for (int i = 0; i < 10; ++i) {
    auto admission = table_->Admit(Asked(""));
    ASSERT_TRUE(admission.ok());
    EXPECT_EQ(table_->active_jobs(), 1);
    table_->Abandon(Asked(""), *admission);
  }
  EXPECT_EQ(table_->active_jobs(), 0);
  EXPECT_EQ(table_->counts().active_tasks, 0);
}

TEST_F(JobTableTest, DoneJobsMakeRoomForNewOnes) {
  for (int i = 0; i < 3; ++i) Make(Asked(""));
  EXPECT_EQ(table_->Admit(Asked("")).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(table_->counts().refused, 1);
  pool_.RunUntilIdle();
  EXPECT_TRUE(table_->WaitUntilIdle(absl::ZeroDuration()));
  const JobEntry next = Make(Asked(""));
  // Two done ones are kept, and the new one.
  EXPECT_EQ(table_->List(0, 100, {true, true, true, true, true, true}).jobs.size(), 3u);
  EXPECT_EQ(table_->counts().ended[static_cast<std::size_t>(JobState::kSucceeded)], 3);
}

TEST_F(JobTableTest, AReservedIdIsNotThereYetButTaken) {
  JobTable::Request request = Asked("");
  request.job_id = "mine";
  ASSERT_TRUE(table_->Admit(request).ok());
  EXPECT_EQ(table_->Find("mine").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table_->Admit(request).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(table_->List(0, 100, {true, true, true, true, true, true}).jobs.size(), 0u);
}

}  // namespace
}  // namespace jackdaw
