// Endpoint: a gRPC server with its services and the queues that serve them.
//
// Thread safety: one thread makes, starts and ends it.

#ifndef JACKDAW_SERVER_ENDPOINT_H_
#define JACKDAW_SERVER_ENDPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/acceptor.h"
#include "server/rpc/queue.h"
#include "server/rpc/service.h"

namespace grpc {
class Server;
namespace experimental {
class ExternalConnectionAcceptor;
}  // namespace experimental
}  // namespace grpc

namespace jackdaw {

// Clients may send keepalive pings so often, also while no call is under way. Those that ping
// much more often are sent away.
inline constexpr absl::Duration kMinPingInterval = absl::Seconds(1);

class Endpoint {
 public:
  struct Settings {
    std::int64_t max_message_bytes;
    int socket_mode;  // Of Unix sockets.
    int queues;       // Each with a thread.
  };

  // `name` is for its threads.
  explicit Endpoint(std::string name);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Adds a service, before Start(). It counts into `counters`, which outlive the endpoint.
  RpcService& Add(const google::protobuf::ServiceDescriptor& descriptor, RpcCounters& counters);

  // FAILED_PRECONDITION, UNAVAILABLE: an address cannot be had.
  absl::Status Start(const std::vector<std::string>& addresses, const Settings& settings);

  // Takes no more calls, gives those under way `margin` to end, then cuts them. Idempotent.
  void Shutdown(absl::Duration margin);

  // The addresses, with the ports that the system chose.
  [[nodiscard]] const std::vector<std::string>& bound() const { return bound_; }

 private:
  const std::string name_;
  std::vector<std::unique_ptr<RpcService>> services_;
  std::vector<std::unique_ptr<RpcQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::string> bound_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_ENDPOINT_H_
