#include "server/rpc/queue.h"

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <pthread.h>

#include <utility>

#include "absl/time/clock.h"
#include "server/rpc/event.h"

namespace jackdaw {
namespace {

// An alarm that calls back once and is then gone.
class Callback final : public Event {
 public:
  Callback(RpcQueue& queue, std::function<void()> callback)
      : queue_(queue), callback_(std::move(callback)) {
    queue_.Hold();
  }
  void Set(absl::Duration delay) {
    const auto at = delay <= absl::ZeroDuration() ? absl::UnixEpoch() : absl::Now() + delay;
    StartWith(
        [&](void* tag) { alarm_.Set(&queue_.completion_queue(), absl::ToChronoTime(at), tag); });
  }
  void Complete(bool) override {
    callback_();
    RpcQueue& queue = queue_;
    delete this;
    queue.Release();
  }

 private:
  RpcQueue& queue_;
  std::function<void()> callback_;
  grpc::Alarm alarm_;
};

}  // namespace

RpcQueue::RpcQueue(std::string name, std::unique_ptr<grpc::ServerCompletionQueue> queue)
    : name_(name.substr(0, 15)), queue_(std::move(queue)) {}

RpcQueue::~RpcQueue() {
  if (thread_.joinable()) Join();
}

void RpcQueue::Start(std::function<void()> first) {
  // The server is shut down only once what is begun here has begun.
  Hold();
  thread_ = std::thread([this, first = std::move(first)] {
    pthread_setname_np(pthread_self(), name_.c_str());
    if (first) first();
    Release();
    Serve();
  });
}

void RpcQueue::Join() {
  {
    absl::MutexLock lock(&mutex_);
    const auto unheld = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return holds_ == 0; };
    mutex_.Await(absl::Condition(&unheld));
  }
  queue_->Shutdown();
  thread_.join();
}

void RpcQueue::Serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) Event::Of(tag)->Complete(ok);
}

void RpcQueue::Post(std::coroutine_handle<> coroutine) {
  (new Callback(*this, [coroutine] { coroutine.resume(); }))->Set(absl::ZeroDuration());
}

void RpcQueue::After(absl::Duration delay, std::function<void()> callback) {
  (new Callback(*this, std::move(callback)))->Set(delay);
}

void RpcQueue::Hold() {
  absl::MutexLock lock(&mutex_);
  ++holds_;
}

void RpcQueue::Release() {
  absl::MutexLock lock(&mutex_);
  --holds_;
}

}  // namespace jackdaw
