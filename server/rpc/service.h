// RpcService: a gRPC service made from its descriptor. Each method gets a handler, a
// coroutine over a Call; one that has none answers UNIMPLEMENTED.
//
// Thread safety: handlers are set before the server starts; Serve() after it has started,
// on the thread of the queue.

#ifndef JACKDAW_SERVER_RPC_SERVICE_H_
#define JACKDAW_SERVER_RPC_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/rpc/call.h"
#include "server/rpc/rpc.h"

namespace jackdaw {

class RpcService final : public grpc::Service {
 public:
  using Handler = std::function<Rpc(std::shared_ptr<Call>)>;

  // Counts into `counters`, which outlive the service.
  RpcService(const google::protobuf::ServiceDescriptor& descriptor, RpcCounters& counters);
  ~RpcService() override;

  // Requires: the service has a method of that name.
  void Handle(absl::string_view method, Handler handler);

  // A method of one request and one response that is answered at once.
  template <typename Request, typename Response>
  void HandleUnary(absl::string_view method,
                   std::function<absl::Status(const Call&, Request&, Response*)> body) {
    Handle(method, [body = std::move(body)](std::shared_ptr<Call> call) {
      return Unary<Request, Response>(std::move(call), &body);
    });
  }

  // Accepts calls on `queue` until the server is shut down. On the queue's thread.
  void Serve(RpcQueue& queue);

  [[nodiscard]] const std::string& name() const { return descriptor_.full_name(); }

 private:
  struct Method;
  class Acceptor;

  // Arguments live in the coroutine's frame; `body` in the handler, as long as the service.
  template <typename Request, typename Response>
  static Rpc Unary(std::shared_ptr<Call> call,
                   const std::function<absl::Status(const Call&, Request&, Response*)>* body) {
    Request request;
    Response response;
    absl::Status status = call->ParseRequest(&request);
    if (status.ok()) status = (*body)(*call, request, &response);
    if (status.ok()) {
      auto answer = call->WriteAndFinish(response);
      co_await answer;
    } else {
      auto answer = call->Finish(status);
      co_await answer;
    }
  }

  void Accept(RpcQueue& queue, int method);

  const google::protobuf::ServiceDescriptor& descriptor_;
  std::vector<std::unique_ptr<Method>> handled_;  // One a method, in the descriptor's order.
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_SERVICE_H_
