#include "server/endpoint.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/listener.h"

namespace jackdaw {
namespace {

// Stock clients send keepalive pings every ten seconds and slower, also while nothing is
// said. gRPC's own default would cut them off.
void AllowKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Notices clients that are gone without a word.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
}

// Sockets are made with exactly this mode, from the first moment on.
class ScopedSocketMode {
 public:
  explicit ScopedSocketMode(int mode) : before_(umask(static_cast<mode_t>(0777 & ~mode))) {}
  ~ScopedSocketMode() { umask(before_); }
  ScopedSocketMode(const ScopedSocketMode&) = delete;
  ScopedSocketMode& operator=(const ScopedSocketMode&) = delete;

 private:
  const mode_t before_;
};

}  // namespace

Endpoint::Endpoint(std::string name) : name_(std::move(name)) {}

Endpoint::~Endpoint() { Shutdown(absl::ZeroDuration()); }

RpcService& Endpoint::Add(const google::protobuf::ServiceDescriptor& descriptor,
                          RpcCounters& counters) {
  return *services_.emplace_back(std::make_unique<RpcService>(descriptor, counters));
}

absl::Status Endpoint::Start(const std::vector<std::string>& addresses, const Settings& settings) {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(settings.max_message_bytes));
  // Another server on the same port is a mistake, not a wish to share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  AllowKeepalive(builder);
  std::vector<int> ports(addresses.size(), 0);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (absl::Status stale = RemoveStaleSocket(addresses[i]); !stale.ok()) return stale;
    builder.AddListeningPort(addresses[i], grpc::InsecureServerCredentials(), &ports[i]);
  }
  for (const auto& service : services_) builder.RegisterService(service.get());
  for (int i = 0; i < settings.queues; ++i) {
    queues_.push_back(
        std::make_unique<RpcQueue>(absl::StrCat(name_, ".", i), builder.AddCompletionQueue()));
  }
  {
    const ScopedSocketMode mode(settings.socket_mode);
    server_ = builder.BuildAndStart();
  }
  for (auto& queue : queues_) queue->Start();
  if (server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", absl::StrJoin(addresses, ", ")));
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    bound_.push_back(WithPort(addresses[i], ports[i]));
  }
  for (auto& queue : queues_) {
    for (const auto& service : services_) service->Serve(*queue);
  }
  return absl::OkStatus();
}

void Endpoint::Shutdown(absl::Duration margin) {
  if (server_ != nullptr) server_->Shutdown(absl::ToChronoTime(absl::Now() + margin));
  for (auto& queue : queues_) queue->Join();
  queues_.clear();
  server_.reset();
}

}  // namespace jackdaw
