// /metrics: every number equals the truth of a known load, and the number of series is
// bounded whatever clients do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/job_names.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

v1::Job Noops(int count) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(count);
  return job;
}

void WithMetrics(ServerOptions& options) { options.metrics = "127.0.0.1:0"; }

TEST(MetricsTest, CountersEqualTheTruthOfTheLoad) {
  TestServer server(WithMetrics);
  v1::Job job = Noops(1000);
  AddTask(&job, "bad", "fail");
  AddTask(&job, "after", "noop", {"bad"});
  const v1::Job ended = server.AwaitEnd(server.Create(job));
  EXPECT_EQ(ended.state(), v1::Job::STATE_FAILED);
  std::string text = server.Scrape();
  // The worker that ended the job may still be counting.
  while (SumSeries(text, "jackdaw_worker_tasks_total{") < 1001 ||
         SumSeries(text, "jackdaw_jobs_total{outcome=\"failed\"}") < 1) {
    text = server.Scrape();
  }
  EXPECT_EQ(SumSeries(text, "jackdaw_worker_tasks_total{"), 1001);
  EXPECT_EQ(
      SumSeries(text,
                "jackdaw_tasks_total{action=\"noop\",kind=\"function\",outcome=\"succeeded\"}"),
      1000);
  EXPECT_EQ(
      SumSeries(text, "jackdaw_tasks_total{action=\"noop\",kind=\"function\",outcome=\"skipped\"}"),
      1);
  EXPECT_EQ(
      SumSeries(text, "jackdaw_tasks_total{action=\"fail\",kind=\"function\",outcome=\"failed\"}"),
      1);
  EXPECT_EQ(SumSeries(text, "jackdaw_task_run_seconds_count{action=\"noop\""), 1000);
  EXPECT_EQ(SumSeries(text, "jackdaw_task_queue_seconds_count{"), 1001);
  EXPECT_EQ(SumSeries(text, "jackdaw_jobs{state=\"failed\"}"), 1);
  EXPECT_EQ(SumSeries(text, "jackdaw_jobs_created_total"), 1);
  EXPECT_EQ(SumSeries(text, "jackdaw_active_tasks"), 0);
  EXPECT_EQ(SumSeries(text, "jackdaw_ready_tasks"), 0);
  EXPECT_EQ(SumSeries(text, "jackdaw_runner_workers{"), 2);
  EXPECT_EQ(
      SumSeries(text, "jackdaw_rpcs_total{method=\"jackdaw.v1.JobService/CreateJob\",code=\"OK\"}"),
      1);
  EXPECT_EQ(SumSeries(text, "jackdaw_job_tasks_total{"), 1002);
  EXPECT_GT(SumSeries(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(SumSeries(text, "process_open_fds"), 3);
  EXPECT_EQ(SumSeries(text, "jackdaw_build_info{"), 1);
}

TEST(MetricsTest, TheNumberOfSeriesIsTheSameBeforeDuringAndAfterAJob) {
  TestServer server(WithMetrics);
  server.Scrape();  // The exposer's own series appear with its first scrape.
  const int before = CountSeries(server.Scrape());
  v1::Job job = Noops(100'000);
  AddTask(&job, "hold", "gate");
  const std::string name = server.Create(job);
  const int during = CountSeries(server.Scrape());
  server.gate().Open();
  server.AwaitEnd(name);
  const int after = CountSeries(server.Scrape());
  EXPECT_EQ(before, during);
  EXPECT_EQ(before, after);
}

TEST(MetricsTest, TenThousandNamesAddNoMoreSeriesThanTheCap) {
  constexpr int kCap = 5;
  constexpr int kNames = 10'000;
  TestServer server([](ServerOptions& options) {
    WithMetrics(options);
    options.job_name_series = kCap;
  });
  server.Scrape();
  const int before = CountSeries(server.Scrape());
  for (int i = 0; i < kNames; ++i) {
    grpc::ClientContext context;
    v1::RunJobRequest request;
    *request.mutable_job() = Noops(1);
    request.mutable_job()->set_display_name(absl::StrCat("name-", i));
    request.set_final_only(true);
    const auto reader = server.jobs().RunJob(&context, request);
    v1::JobEvent event;
    while (reader->Read(&event)) {
    }
    ASSERT_TRUE(reader->Finish().ok());
  }
  const std::string text = server.Scrape();
  EXPECT_EQ(CountSeries(text), before + kCap * 4);
  EXPECT_EQ(SumSeries(text, "jackdaw_job_tasks_total{"), kNames);
  EXPECT_EQ(SumSeries(text, "jackdaw_job_tasks_total{job_name=\"__other__\""), kNames - kCap);
}

TEST(MetricsTest, NamesOfMethodsThatDoNotExistAddNoSeries) {
  TestServer server(WithMetrics);
  server.Scrape();
  const int before = CountSeries(server.Scrape());
  grpc::ClientContext context;
  const auto stub = v1::JobService::NewStub(server.channel());
  v1::GetJobRequest request;
  request.set_name("jobs/none");
  v1::Job job;
  EXPECT_FALSE(stub->GetJob(&context, request, &job).ok());
  EXPECT_EQ(CountSeries(server.Scrape()), before);
}

TEST(JobNamesTest, OneThatCallsItselfOtherIsCountedThere) {
  JobNames names(10);
  JobNames::Tasks tasks{};
  tasks[static_cast<std::size_t>(TaskState::kSucceeded)] = 3;
  names.Count(JobNames::kOther, tasks);
  names.Count("", tasks);
  const auto read = names.Read();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].second, (JobNames::Tasks{0, 0, 0, 0, 0, 6, 0, 0, 0}));
}

}  // namespace
}  // namespace jackdaw
