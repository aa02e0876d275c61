#include "server/endpoint.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/listener.h"

namespace jackdaw {
namespace {

// Stock clients send keepalive pings every ten seconds and slower, also while nothing is
// said. gRPC's own default would cut them off.
void AllowKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(absl::ToInt64Milliseconds(kMinPingInterval)));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Notices clients that are gone without a word.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
}

}  // namespace

Endpoint::Endpoint(std::string name) : name_(std::move(name)) {}

Endpoint::~Endpoint() { Shutdown(absl::ZeroDuration()); }

RpcService& Endpoint::Add(const google::protobuf::ServiceDescriptor& descriptor,
                          RpcCounters& counters) {
  return *services_.emplace_back(std::make_unique<RpcService>(descriptor, counters));
}

absl::Status Endpoint::Start(const std::vector<std::string>& addresses, const Settings& settings) {
  std::vector<std::unique_ptr<ListeningSocket>> sockets;
  for (const std::string& address : addresses) {
    auto socket = ListeningSocket::Open(address, settings.socket_mode);
    if (!socket.ok()) return socket.status();
    bound_.push_back((*socket)->address());
    sockets.push_back(*std::move(socket));
  }
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(settings.max_message_bytes));
  AllowKeepalive(builder);
  // It is given connections instead of addresses; see acceptor.h.
  using Connections = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  connections_ = builder.experimental().AddExternalConnectionAcceptor(
      Connections::FROM_FD, grpc::InsecureServerCredentials());
  for (const auto& service : services_) builder.RegisterService(service.get());
  for (int i = 0; i < settings.queues; ++i) {
    queues_.push_back(
        std::make_unique<RpcQueue>(absl::StrCat(name_, ".", i), builder.AddCompletionQueue()));
  }
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    for (auto& queue : queues_) queue->Start();
    return absl::InternalError("gRPC cannot start a server");
  }
  for (auto& queue : queues_) {
    queue->Start([this, on = queue.get()] {
      for (const auto& service : services_) service->Serve(*on);
    });
  }
  acceptor_ = std::make_unique<Acceptor>(std::move(sockets), [this](int listener, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listener;
    parameters.fd = connection;
    connections_->HandleNewConnection(&parameters);
  });
  return absl::OkStatus();
}

void Endpoint::Shutdown(absl::Duration margin) {
  acceptor_.reset();  // First: what it hands on after the server's end would be lost.
  if (server_ != nullptr) server_->Shutdown(absl::ToChronoTime(absl::Now() + margin));
  for (auto& queue : queues_) queue->Join();
  queues_.clear();
  server_.reset();
}

}  // namespace jackdaw
