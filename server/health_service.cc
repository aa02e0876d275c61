#include "server/health_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"

namespace jackdaw {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthService::HealthService(std::vector<std::string> services) : services_(std::move(services)) {}

void HealthService::Register(RpcService* service) {
  service->HandleUnary<HealthCheckRequest, HealthCheckResponse>(
      "Check", [self = shared_from_this()](const Call&, auto& request, auto* response) {
        if (!self->Knows(request.service())) {
          return NotFound(absl::StrCat("service \"", request.service(), "\""), "SERVICE_NOT_FOUND");
        }
        response->set_status(self->serving() ? HealthCheckResponse::SERVING
                                             : HealthCheckResponse::NOT_SERVING);
        return absl::OkStatus();
      });
  service->Handle("Watch",
                  [self = shared_from_this()](auto call) { return self->Watch(std::move(call)); });
}

Rpc HealthService::Watch(std::shared_ptr<Call> call) {
  const std::shared_ptr<HealthService> self = shared_from_this();
  HealthCheckRequest request;
  absl::Status end = call->ParseRequest(&request);
  if (end.ok()) {
    const auto watcher = AddWatcher(call->signal());
    HealthCheckResponse response;
    response.set_status(HealthCheckResponse::UNKNOWN);
    bool listening = true;
    while (listening) {
      const auto before = response.status();
      if (!Knows(request.service())) {
        response.set_status(HealthCheckResponse::SERVICE_UNKNOWN);
      } else {
        response.set_status(serving() ? HealthCheckResponse::SERVING
                                      : HealthCheckResponse::NOT_SERVING);
      }
      if (response.status() != before) {
        auto write = call->Write(response);
        listening = co_await write;
        if (!listening) break;
      }
      auto change = call->signal()->Wait(Signal::kChanged | Signal::kGone);
      const std::uint32_t reasons = co_await change;
      listening = (reasons & Signal::kGone) == 0;
    }
    RemoveWatcher(watcher);
    end = absl::CancelledError("the watch is over");
  }
  auto finish = call->Finish(end);
  co_await finish;
}

void HealthService::SetServing(bool serving) {
  absl::MutexLock lock(&mutex_);
  serving_ = serving;
  // Only posts to the queues.
  for (const auto& watcher : watchers_) {
    watcher->Raise(Signal::kChanged, Signal::Resume::kOnQueue);
  }
}

bool HealthService::Knows(absl::string_view service) const {
  return service.empty() ||
         std::find(services_.begin(), services_.end(), service) != services_.end();
}

bool HealthService::serving() const {
  absl::MutexLock lock(&mutex_);
  return serving_;
}

HealthService::Watchers::iterator HealthService::AddWatcher(std::shared_ptr<Signal> signal) {
  absl::MutexLock lock(&mutex_);
  return watchers_.insert(watchers_.end(), std::move(signal));
}

void HealthService::RemoveWatcher(Watchers::iterator watcher) {
  absl::MutexLock lock(&mutex_);
  watchers_.erase(watcher);
}

}  // namespace jackdaw
