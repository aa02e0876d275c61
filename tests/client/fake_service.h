// FakeService: a tiny gRPC server inside the test's process that answers as the test says.
//
// Thread safety: handlers are set before the first call; requests() from any thread.

#ifndef JACKDAW_TESTS_CLIENT_FAKE_SERVICE_H_
#define JACKDAW_TESTS_CLIENT_FAKE_SERVICE_H_

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cpp/client.h"
#include "jackdaw/v1/job_service.grpc.pb.h"

namespace jackdaw {

class FakeJobService final : public v1::JobService::Service {
 public:
  using Events = grpc::ServerWriter<v1::JobEvent>;

  // Each is called with the number of the call of its kind, from 1.
  std::function<grpc::Status(int, const v1::CreateJobRequest&, v1::Job*)> on_create;
  std::function<grpc::Status(int, v1::Job*)> on_get;
  std::function<grpc::Status(int)> on_delete;
  std::function<grpc::Status(int, const v1::RunJobRequest&, Events*)> on_run;
  std::function<grpc::Status(int, const v1::WatchJobRequest&, Events*, grpc::ServerContext*)>
      on_watch;
  std::function<grpc::Status(int, const v1::ReadOutputRequest&,
                             grpc::ServerWriter<v1::ReadOutputResponse>*)>
      on_read;

  // The request_id of every call that creates a job.
  std::vector<std::string> request_ids() const {
    const absl::MutexLock lock(&mutex_);
    return request_ids_;
  }

  grpc::Status CreateJob(grpc::ServerContext*, const v1::CreateJobRequest* request,
                         v1::Job* job) override {
    Remember(request->request_id());
    return on_create(++creates_, *request, job);
  }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request,
                      v1::Job* job) override {
    job->set_name(request->name());
    return on_get(++gets_, job);
  }
  grpc::Status DeleteJob(grpc::ServerContext*, const v1::DeleteJobRequest*,
                         google::protobuf::Empty*) override {
    return on_delete(++deletes_);
  }
  grpc::Status RunJob(grpc::ServerContext*, const v1::RunJobRequest* request,
                      Events* events) override {
    Remember(request->request_id());
    return on_run(++runs_, *request, events);
  }
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        Events* events) override {
    return on_watch(++watches_, *request, events, context);
  }
  grpc::Status ReadOutput(grpc::ServerContext*, const v1::ReadOutputRequest* request,
                          grpc::ServerWriter<v1::ReadOutputResponse>* pieces) override {
    return on_read(++reads_, *request, pieces);
  }

 private:
  void Remember(const std::string& request_id) {
    const absl::MutexLock lock(&mutex_);
    request_ids_.push_back(request_id);
  }

  std::atomic<int> creates_{0}, gets_{0}, deletes_{0}, runs_{0}, watches_{0}, reads_{0};
  mutable absl::Mutex mutex_;
  std::vector<std::string> request_ids_ ABSL_GUARDED_BY(mutex_);
};

// The service on a Unix socket, and a client that records its waits instead of waiting.
class FakeServer {
 public:
  FakeServer() {
    std::string pattern = (std::filesystem::temp_directory_path() / "jackdaw-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    address_ = absl::StrCat("unix:", directory_, "/socket");
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    std::filesystem::remove_all(directory_);
  }

  std::unique_ptr<Client> Connect(Client::Options options = {}) {
    options.address = address_;
    options.seed = 1;
    options.wait = [this](absl::Duration span) {
      const absl::MutexLock lock(&mutex_);
      waits_.push_back(span);
    };
    return Client::Connect(std::move(options)).value();
  }

  std::vector<absl::Duration> waits() const {
    const absl::MutexLock lock(&mutex_);
    return waits_;
  }

  FakeJobService service;

 private:
  std::string directory_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  mutable absl::Mutex mutex_;
  std::vector<absl::Duration> waits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_CLIENT_FAKE_SERVICE_H_
