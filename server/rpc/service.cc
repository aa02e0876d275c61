#include "server/rpc/service.h"

#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/rpc_service_method.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

using grpc::internal::RpcMethod;

RpcMethod::RpcType TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

RpcCounters::Kind KindOf(const google::protobuf::MethodDescriptor& method) {
  return TypeOf(method) == RpcMethod::NORMAL_RPC ? RpcCounters::Kind::kUnary
                                                 : RpcCounters::Kind::kStream;
}

Rpc AnswerUnimplemented(std::shared_ptr<Call> call) {
  auto finish = call->Finish(MakeError(absl::StatusCode::kUnimplemented,
                                       "this server does not have this method yet",
                                       "METHOD_NOT_IMPLEMENTED"));
  co_await finish;
}

}  // namespace

struct RpcService::Method {
  Method(std::string p, RpcMethod::RpcType t, RpcCounters::Method& c)
      : path(std::move(p)), type(t), counters(c) {}
  const std::string path;  // gRPC keeps the pointer.
  const RpcMethod::RpcType type;
  RpcCounters::Method& counters;
  Handler handler = AnswerUnimplemented;
};

// Waits for one call, hands it to its handler, and has the next one waited for. gRPC's word
// that the call is over comes here too: it is the second event of a stream.
class RpcService::Acceptor final : public Event {
 public:
  Acceptor(RpcService& service, RpcQueue& queue, int method)
      : service_(service), queue_(queue), method_(method) {}

  void Start() {
    Method& method = *service_.handled_[static_cast<std::size_t>(method_)];
    const bool many =
        method.type == RpcMethod::CLIENT_STREAMING || method.type == RpcMethod::BIDI_STREAMING;
    call_ = std::make_shared<Call>(queue_, method.counters,
                                   many ? Call::Requests::kMany : Call::Requests::kOne);
    if (method.type != RpcMethod::NORMAL_RPC) {
      call_->signal_ = std::make_shared<Signal>(queue_);
      over_ = new Over(call_);
      over_->StartWith([&](void* tag) { call_->context_.AsyncNotifyWhenDone(tag); });
    }
    auto* queue = &queue_.completion_queue();
    StartWith([&](void* tag) {
      if (many) {
        service_.RequestAsyncBidiStreaming(method_, &call_->context_, &*call_->stream_, queue,
                                           queue, tag);
      } else {
        service_.RequestAsyncServerStreaming(method_, &call_->context_, &call_->request_,
                                             &*call_->writer_, queue, queue, tag);
      }
    });
  }

  void Complete(bool ok) override {
    if (ok) {
      service_.Accept(queue_, method_);
      Method& method = *service_.handled_[static_cast<std::size_t>(method_)];
      if (over_ != nullptr) method.counters.streams.fetch_add(1, std::memory_order_relaxed);
      method.handler(std::move(call_)).Start();
    } else {
      delete over_;  // gRPC does not tell of the end of what never began.
    }
    delete this;
  }

 private:
  class Over final : public Event {
   public:
    explicit Over(std::shared_ptr<Call> call) : call_(std::move(call)) {}
    void Complete(bool) override {
      call_->counters().streams.fetch_sub(1, std::memory_order_relaxed);
      call_->signal()->Raise(Signal::kGone, Signal::Resume::kHere);
      delete this;
    }

   private:
    const std::shared_ptr<Call> call_;
  };

  RpcService& service_;
  RpcQueue& queue_;
  const int method_;
  std::shared_ptr<Call> call_;
  Over* over_ = nullptr;
};

RpcService::RpcService(const google::protobuf::ServiceDescriptor& descriptor, RpcCounters& counters)
    : descriptor_(descriptor) {
  for (int i = 0; i < descriptor.method_count(); ++i) {
    const auto& method = *descriptor.method(i);
    const std::string full = absl::StrCat(descriptor.full_name(), "/", method.name());
    handled_.push_back(std::make_unique<Method>(absl::StrCat("/", full), TypeOf(method),
                                                counters.AddMethod(full, KindOf(method))));
    AddMethod(new grpc::internal::RpcServiceMethod(handled_.back()->path.c_str(),
                                                   handled_.back()->type, nullptr));
    MarkMethodRaw(i);
  }
}

RpcService::~RpcService() = default;

void RpcService::Handle(absl::string_view method, Handler handler) {
  const auto* found = descriptor_.FindMethodByName(std::string(method));
  if (found == nullptr) std::abort();  // A handler for a method that does not exist: a bug.
  handled_[static_cast<std::size_t>(found->index())]->handler = std::move(handler);
}

void RpcService::Serve(RpcQueue& queue) {
  for (int i = 0; i < descriptor_.method_count(); ++i) Accept(queue, i);
}

void RpcService::Accept(RpcQueue& queue, int method) {
  (new Acceptor(*this, queue, method))->Start();
}

}  // namespace jackdaw
