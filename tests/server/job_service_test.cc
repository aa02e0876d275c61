// The unary methods of JobService, against a real server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

class JobServiceTest : public ::testing::Test {
 protected:
  grpc::Status Create(const v1::CreateJobRequest& request, v1::Job* created) {
    grpc::ClientContext context;
    return server_.jobs().CreateJob(&context, request, created);
  }
  grpc::Status Get(const std::string& name, v1::Job* job) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    return server_.jobs().GetJob(&context, request, job);
  }
  grpc::Status Delete(const std::string& name) {
    grpc::ClientContext context;
    v1::DeleteJobRequest request;
    request.set_name(name);
    google::protobuf::Empty empty;
    return server_.jobs().DeleteJob(&context, request, &empty);
  }
  grpc::Status Cancel(const std::string& name, v1::Job* job) {
    grpc::ClientContext context;
    v1::CancelJobRequest request;
    request.set_name(name);
    request.set_reason("enough");
    return server_.jobs().CancelJob(&context, request, job);
  }
  grpc::Status GetTask(const v1::GetTaskRequest& request, v1::Task* task) {
    grpc::ClientContext context;
    return server_.jobs().GetTask(&context, request, task);
  }
  grpc::Status List(const v1::ListJobsRequest& request, v1::ListJobsResponse* response) {
    grpc::ClientContext context;
    return server_.jobs().ListJobs(&context, request, response);
  }
  grpc::Status ListTasks(const v1::ListTasksRequest& request, v1::ListTasksResponse* response) {
    grpc::ClientContext context;
    return server_.jobs().ListTasks(&context, request, response);
  }

  static v1::Job Gated() {
    v1::Job job;
    AddTask(&job, "a", "gate");
    return job;
  }

  TestServer server_;
};

TEST_F(JobServiceTest, AJobIsToldBackAsItWasAskedFor) {
  v1::CreateJobRequest request;
  v1::Job& job = *request.mutable_job();
  job.set_display_name("nightly");
  job.set_failure_policy(v1::FAILURE_POLICY_FAIL_FAST);
  job.set_priority(v1::PRIORITY_HIGH);
  job.mutable_timeout()->set_seconds(100);
  (*job.mutable_labels())["team"] = "core";
  AddTask(&job, "a", "noop");
  request.set_job_id("my-job");
  v1::Job created;
  ASSERT_TRUE(Create(request, &created).ok());
  EXPECT_EQ(created.name(), "jobs/my-job");
  const v1::Job ended = server_.AwaitEnd(created.name());
  EXPECT_EQ(ended.state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(ended.display_name(), "nightly");
  EXPECT_EQ(ended.failure_policy(), v1::FAILURE_POLICY_FAIL_FAST);
  EXPECT_EQ(ended.priority(), v1::PRIORITY_HIGH);
  EXPECT_EQ(ended.timeout().seconds(), 100);
  EXPECT_EQ(ended.labels().at("team"), "core");
  EXPECT_EQ(ended.task_counts().succeeded(), 1);
  EXPECT_TRUE(ended.has_end_time());
  EXPECT_EQ(Describe(Create(request, &created)), "ALREADY_EXISTS JOB_ALREADY_EXISTS");
  request.set_job_id("Not-Valid");
  EXPECT_EQ(Describe(Create(request, &created)), "INVALID_ARGUMENT INVALID_FIELD job_id");
}

TEST_F(JobServiceTest, TheSameRequestIdMakesOneJob) {
  v1::CreateJobRequest request;
  *request.mutable_job() = Gated();
  for (int i = 0; i < 20; ++i)
    (*request.mutable_job()->mutable_labels())[std::string(1, 'a' + i)] = "x";
  request.set_request_id("r1");
  v1::Job first;
  ASSERT_TRUE(Create(request, &first).ok());
  v1::CreateJobRequest again;
  again.ParseFromString(request.SerializeAsString());
  v1::Job second;
  ASSERT_TRUE(Create(again, &second).ok());
  EXPECT_EQ(first.name(), second.name());
  again.mutable_job()->set_display_name("other");
  EXPECT_EQ(Describe(Create(again, &second)), "FAILED_PRECONDITION REQUEST_ID_REUSED");
  request.set_request_id("tab\t");
  EXPECT_EQ(Describe(Create(request, &second)), "INVALID_ARGUMENT INVALID_FIELD request_id");
}

TEST_F(JobServiceTest, ValidateOnlyStartsNothing) {
  v1::CreateJobRequest request;
  *request.mutable_job() = Gated();
  request.set_validate_only(true);
  v1::Job checked;
  ASSERT_TRUE(Create(request, &checked).ok());
  EXPECT_EQ(checked.name(), "");
  EXPECT_EQ(checked.task_counts().total(), 1);
  v1::ListJobsResponse listed;
  ASSERT_TRUE(List({}, &listed).ok());
  EXPECT_EQ(listed.jobs_size(), 0);
  request.mutable_job()->mutable_tasks(0)->mutable_function()->set_name("nope");
  EXPECT_THAT(Describe(Create(request, &checked)), HasSubstr("UNKNOWN_FUNCTION"));
}

TEST_F(JobServiceTest, NamesOutOfFormAndUnknownOnesAreToldApart) {
  v1::Job job;
  v1::Task task;
  v1::GetTaskRequest get;
  EXPECT_EQ(Describe(Get("nonsense", &job)), "INVALID_ARGUMENT INVALID_NAME name");
  EXPECT_EQ(Describe(Get("jobs/none", &job)), "NOT_FOUND JOB_NOT_FOUND");
  EXPECT_EQ(Describe(Cancel("jobs/", &job)), "INVALID_ARGUMENT INVALID_NAME name");
  EXPECT_EQ(Describe(Cancel("jobs/none", &job)), "NOT_FOUND JOB_NOT_FOUND");
  EXPECT_EQ(Describe(Delete("jobs/none/x")), "INVALID_ARGUMENT INVALID_NAME name");
  EXPECT_EQ(Describe(Delete("jobs/none")), "NOT_FOUND JOB_NOT_FOUND");
  get.set_name("jobs/none");
  EXPECT_EQ(Describe(GetTask(get, &task)), "INVALID_ARGUMENT INVALID_NAME name");
  get.set_name("jobs/none/tasks/a");
  EXPECT_EQ(Describe(GetTask(get, &task)), "NOT_FOUND JOB_NOT_FOUND");
  get.set_name(server_.Create(Gated()) + "/tasks/b");
  EXPECT_EQ(Describe(GetTask(get, &task)), "NOT_FOUND TASK_NOT_FOUND");
}

TEST_F(JobServiceTest, ACancelledJobSaysWhy) {
  const std::string name = server_.Create(Gated());
  server_.gate().AwaitArrivals(1);
  v1::Job job;
  ASSERT_TRUE(Cancel(name, &job).ok());
  const v1::Job ended = server_.AwaitEnd(name);
  EXPECT_EQ(ended.state(), v1::Job::STATE_CANCELLED);
  EXPECT_THAT(ended.error().message(), HasSubstr("enough"));
  EXPECT_TRUE(Cancel(name, &job).ok());
  EXPECT_EQ(job.state(), v1::Job::STATE_CANCELLED);
}

TEST_F(JobServiceTest, OnlyATerminalJobIsDeleted) {
  const std::string name = server_.Create(Gated());
  EXPECT_EQ(Describe(Delete(name)), "FAILED_PRECONDITION JOB_NOT_TERMINAL");
  server_.gate().Open();
  server_.AwaitEnd(name);
  EXPECT_TRUE(Delete(name).ok());
  v1::Job job;
  EXPECT_EQ(Describe(Get(name, &job)), "NOT_FOUND JOB_NOT_FOUND");
}

TEST_F(JobServiceTest, JobsAreListedNewestFirstInPages) {
  std::vector<std::string> names;
  v1::Job quick;
  AddTask(&quick, "a", "noop");
  for (int i = 0; i < 5; ++i) names.push_back(server_.Create(quick));
  for (const std::string& name : names) server_.AwaitEnd(name);
  const std::string gated = server_.Create(Gated());
  v1::ListJobsRequest request;
  request.set_page_size(2);
  std::vector<std::string> listed;
  do {
    v1::ListJobsResponse page;
    ASSERT_TRUE(List(request, &page).ok());
    EXPECT_LE(page.jobs_size(), 2);
    for (const auto& job : page.jobs()) listed.push_back(job.name());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  names.push_back(gated);
  EXPECT_THAT(listed, ::testing::ElementsAreArray(names.rbegin(), names.rend()));

  v1::ListJobsRequest filtered;
  filtered.add_states(v1::Job::STATE_RUNNING);
  v1::ListJobsResponse running;
  ASSERT_TRUE(List(filtered, &running).ok());
  ASSERT_EQ(running.jobs_size(), 1);
  EXPECT_EQ(running.jobs(0).name(), gated);
}

TEST_F(JobServiceTest, PagesOutOfFormAreRefused) {
  v1::ListJobsRequest request;
  v1::ListJobsResponse response;
  request.set_page_size(-1);
  EXPECT_EQ(Describe(List(request, &response)), "INVALID_ARGUMENT INVALID_FIELD page_size");
  request.set_page_size(0);
  request.set_page_token("garbage");
  EXPECT_EQ(Describe(List(request, &response)), "INVALID_ARGUMENT INVALID_PAGE_TOKEN page_token");
  request.clear_page_token();
  request.add_states(static_cast<v1::Job::State>(99));
  EXPECT_EQ(Describe(List(request, &response)), "INVALID_ARGUMENT INVALID_FIELD states[0]");
}

TEST_F(JobServiceTest, ATaskIsFoundByIdAndByIndex) {
  v1::Job job;
  AddTask(&job, "a", "echo")->set_payload("hello");
  v1::Task* second = job.add_tasks();
  second->mutable_function()->set_name("fail");
  second->set_payload("INVALID_ARGUMENT: no");
  second->add_after_indices(0);
  (*second->mutable_labels())["k"] = "v";
  const std::string name = server_.Create(job);
  EXPECT_EQ(server_.AwaitEnd(name).state(), v1::Job::STATE_FAILED);
  v1::GetTaskRequest request;
  v1::Task task;
  request.set_name(name + "/tasks/a");
  request.set_max_output_bytes(4);
  ASSERT_TRUE(GetTask(request, &task).ok());
  EXPECT_EQ(task.state(), v1::Task::STATE_SUCCEEDED);
  EXPECT_EQ(task.output(), "hell");
  EXPECT_EQ(task.output_bytes(), 5);
  EXPECT_EQ(task.function().name(), "echo");
  ASSERT_EQ(task.attempts_size(), 1);
  EXPECT_EQ(task.attempts(0).runner(), "compute");
  request.set_name(name + "/tasks/1");
  ASSERT_TRUE(GetTask(request, &task).ok());
  EXPECT_EQ(task.name(), name + "/tasks/1");
  EXPECT_EQ(task.task_id(), "");
  EXPECT_EQ(task.error().code(), google::rpc::INVALID_ARGUMENT);
  EXPECT_THAT(task.after_indices(), ::testing::ElementsAre(0));
  EXPECT_EQ(task.labels().at("k"), "v");
  request.set_max_output_bytes(-1);
  EXPECT_EQ(Describe(GetTask(request, &task)), "INVALID_ARGUMENT INVALID_FIELD max_output_bytes");
}

TEST_F(JobServiceTest, TasksAreListedByIndexInPagesAndByState) {
  v1::Job job;
  v1::TaskArray* array = job.add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(25);
  for (int i = 0; i < 25; ++i) {
    array->add_dependency_counts(i == 0 ? 0 : 1);
    if (i > 0) array->add_dependency_indices(i - 1);
  }
  AddTask(&job, "bad", "fail");
  const std::string name = server_.Create(job);
  server_.AwaitEnd(name);
  v1::ListTasksRequest request;
  request.set_parent(name);
  request.set_page_size(10);
  int next = 0;
  do {
    v1::ListTasksResponse page;
    ASSERT_TRUE(ListTasks(request, &page).ok());
    for (const auto& task : page.tasks()) EXPECT_EQ(task.index(), next++);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(next, 26);
  request.add_states(v1::Task::STATE_FAILED);
  v1::ListTasksResponse failed;
  ASSERT_TRUE(ListTasks(request, &failed).ok());
  // The task array's first task waits for nothing, so only "bad" failed.
  ASSERT_EQ(failed.tasks_size(), 1);
  EXPECT_EQ(failed.tasks(0).task_id(), "bad");
  EXPECT_EQ(failed.tasks(0).attempts_size(), 0);
}

TEST_F(JobServiceTest, WhatComesLaterIsUnimplemented) {
  grpc::ClientContext context;
  v1::CreateJobRequest open;
  open.set_leave_open(true);
  v1::Job job;
  EXPECT_EQ(Describe(Create(open, &job)), "UNIMPLEMENTED OPEN_JOBS_NOT_IMPLEMENTED");
  const auto call = [&](auto method, auto request, auto response) {
    grpc::ClientContext own;
    return Describe((server_.jobs().*method)(&own, request, &response));
  };
  using Stub = v1::JobService::Stub;
  const std::string expected = "UNIMPLEMENTED METHOD_NOT_IMPLEMENTED";
  EXPECT_EQ(call(&Stub::AddTasks, v1::AddTasksRequest(), v1::AddTasksResponse()), expected);
  EXPECT_EQ(call(&Stub::CloseJob, v1::CloseJobRequest(), v1::Job()), expected);
  EXPECT_EQ(call(&Stub::RetryJob, v1::RetryJobRequest(), v1::Job()), expected);
  EXPECT_EQ(call(&Stub::ExplainTask, v1::ExplainTaskRequest(), v1::ExplainTaskResponse()),
            expected);
  v1::UploadJobResponse uploaded;
  const auto upload = server_.jobs().UploadJob(&context, &uploaded);
  EXPECT_EQ(Describe(upload->Finish()), expected);
}

// Admission.

TEST(AdmissionTest, JobsOverTheLimitAreToldToComeBack) {
  TestServer server([](ServerOptions& options) { options.limits.max_active_jobs = 1; });
  v1::CreateJobRequest request;
  AddTask(request.mutable_job(), "a", "gate");
  const std::string first = server.Create(request.job());
  grpc::ClientContext context;
  v1::Job job;
  const grpc::Status status = server.jobs().CreateJob(&context, request, &job);
  EXPECT_EQ(Describe(status), "RESOURCE_EXHAUSTED TOO_MANY_ACTIVE_JOBS");
  EXPECT_TRUE(DetailsOf(status).has_retry);
  server.gate().Open();
  server.AwaitEnd(first);
}

TEST(AdmissionTest, TasksOverTheLimitAreToldToComeBack) {
  TestServer server([](ServerOptions& options) { options.limits.max_active_tasks = 10; });
  v1::CreateJobRequest request;
  v1::TaskArray* array = request.mutable_job()->add_task_arrays();
  array->mutable_prototype()->mutable_function()->set_name("noop");
  array->set_count(11);
  grpc::ClientContext context;
  v1::Job job;
  const grpc::Status status = server.jobs().CreateJob(&context, request, &job);
  EXPECT_EQ(Describe(status), "RESOURCE_EXHAUSTED TOO_MANY_ACTIVE_TASKS");
  EXPECT_TRUE(DetailsOf(status).has_retry);
  array->set_count(10);
  server.AwaitEnd(server.Create(request.job()));
}

TEST(AdmissionTest, TheOldestDoneJobsAreForgotten) {
  TestServer server([](ServerOptions& options) { options.limits.max_done_jobs = 2; });
  v1::Job quick;
  AddTask(&quick, "a", "noop");
  for (int i = 0; i < 6; ++i) server.AwaitEnd(server.Create(quick));
  grpc::ClientContext context;
  v1::ListJobsResponse listed;
  ASSERT_TRUE(server.jobs().ListJobs(&context, {}, &listed).ok());
  EXPECT_LE(listed.jobs_size(), 4);  // Two, the newest, and one that was ending meanwhile.
  EXPECT_GE(listed.jobs_size(), 2);
}

}  // namespace
}  // namespace jackdaw
