#include "tests/server/test_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/status.pb.h"
#include "server/errors.h"

namespace jackdaw {

std::optional<Outcome> Gate::Start(Attempt& attempt) {
  // Stopped attempts finish through a cell of their own, which the gate shares.
  struct Cell {
    absl::Mutex mutex;
    std::shared_ptr<DetachedAttempt> attempt;
    absl::Status reason;
  };
  auto cell = std::make_shared<Cell>();
  auto detached = attempt.Detach([cell](const absl::Status& reason) {
    std::shared_ptr<DetachedAttempt> stopped;
    {
      absl::MutexLock lock(&cell->mutex);
      cell->reason = reason;
      stopped = cell->attempt;
    }
    if (stopped != nullptr) stopped->Finish({reason, {}, {}});
  });
  absl::Status reason;
  {
    absl::MutexLock lock(&cell->mutex);
    cell->attempt = detached;
    reason = cell->reason;
  }
  bool finish = !reason.ok();
  {
    absl::MutexLock lock(&mutex_);
    ++arrivals_;
    finish |= open_;
    if (!finish) waiting_.push_back(detached);
  }
  if (finish) detached->Finish({reason, {}, {}});
  return std::nullopt;
}

void Gate::Open() {
  std::vector<std::shared_ptr<DetachedAttempt>> released;
  {
    absl::MutexLock lock(&mutex_);
    open_ = true;
    released.swap(waiting_);
  }
  for (const auto& attempt : released) attempt->Finish({absl::OkStatus(), {}, {}});
}

void Gate::AwaitArrivals(int count) {
  absl::MutexLock lock(&mutex_);
  const auto arrived = [&] { return arrivals_ >= count; };
  mutex_.Await(absl::Condition(&arrived));
}

TestServer::TestServer(const std::function<void(ServerOptions&)>& adjust) {
  std::string pattern = (std::filesystem::temp_directory_path() / "jackdaw.XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  ServerOptions options;
  options.listen = {absl::StrCat("unix:", folder_, "/socket")};
  options.metrics.clear();
  options.workers = 2;
  if (const char* queues = std::getenv("JACKDAW_RPC_QUEUES")) {
    EXPECT_TRUE(absl::SimpleAtoi(queues, &options.rpc_queues));
  }
  if (adjust) adjust(options);
  server_ = std::make_unique<Server>(options);
  gate_ = std::make_shared<Gate>();
  EXPECT_TRUE(server_->functions().Register("gate", gate_).ok());
  const absl::Status started = server_->Start();
  EXPECT_TRUE(started.ok()) << started;
  if (!started.ok()) std::abort();
  channel_ = grpc::CreateChannel(address(), grpc::InsecureChannelCredentials());
  jobs_ = v1::JobService::NewStub(channel_);
  info_ = v1::ServerService::NewStub(channel_);
}

TestServer::~TestServer() {
  gate_->Open();
  server_.reset();
  std::filesystem::remove_all(folder_);
}

std::string TestServer::Create(const v1::Job& job) {
  grpc::ClientContext context;
  v1::CreateJobRequest request;
  *request.mutable_job() = job;
  v1::Job created;
  const grpc::Status status = jobs_->CreateJob(&context, request, &created);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return created.name();
}

v1::Job TestServer::AwaitEnd(const std::string& name) {
  grpc::ClientContext context;
  v1::WatchJobRequest request;
  request.set_name(name);
  const auto reader = jobs_->WatchJob(&context, request);
  v1::JobEvent event;
  v1::Job last;
  while (reader->Read(&event)) {
    if (event.has_job()) last = event.job();
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  return last;
}

std::string TestServer::Scrape() {
  const std::string& address = server_->metrics_address();
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
  return jackdaw::Scrape(port);
}

v1::Task* AddTask(v1::Job* job, const std::string& id, const std::string& function,
                  const std::vector<std::string>& after) {
  v1::Task* task = job->add_tasks();
  task->set_task_id(id);
  task->mutable_function()->set_name(function);
  for (const std::string& dependency : after) task->add_after(dependency);
  return task;
}

ErrorDetails DetailsOf(const grpc::Status& status) {
  ErrorDetails details;
  google::rpc::Status proto;
  proto.ParseFromString(status.error_details());
  for (const auto& any : proto.details()) {
    google::rpc::BadRequest bad;
    if (any.UnpackTo(&details.info)) ++details.infos;
    if (any.Is<google::rpc::RetryInfo>()) details.has_retry = true;
    if (!any.UnpackTo(&bad)) continue;
    for (const auto& violation : bad.field_violations())
      details.fields.push_back(violation.field());
  }
  return details;
}

std::string Describe(const grpc::Status& status) {
  const ErrorDetails details = DetailsOf(status);
  EXPECT_EQ(details.infos, status.ok() ? 0 : 1);
  std::string text = absl::StrCat(CodeName(static_cast<absl::StatusCode>(status.error_code())), " ",
                                  details.info.reason());
  if (!details.fields.empty()) absl::StrAppend(&text, " ", details.fields.front());
  return text;
}

}  // namespace jackdaw
