// MetricsEndpoint: serves /metrics over HTTP, by prometheus-cpp's exposer and, in it,
// civetweb.
//
// Thread safety: one thread makes, starts and ends it.

#ifndef JACKDAW_SERVER_METRICS_ENDPOINT_H_
#define JACKDAW_SERVER_METRICS_ENDPOINT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace jackdaw {

class MetricsEndpoint {
 public:
  MetricsEndpoint();
  // Stop().
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  // Listens on `address`, host:port. UNAVAILABLE: it cannot be had.
  absl::Status Start(const std::string& address);

  // Answers with what `source` collects, as long as somebody else keeps it alive. Requires:
  // started.
  void Serve(const std::shared_ptr<prometheus::Collectable>& source);

  // Waits for scrapes under way, then is deaf. Idempotent. Quick, unless a client holds a
  // connection open on which it asks nothing: civetweb gives that up to two seconds.
  void Stop();

  [[nodiscard]] bool started() const { return exposer_ != nullptr; }
  // Where it listens, with the port that the system chose. Empty before Start().
  [[nodiscard]] const std::string& bound() const { return bound_; }

 private:
  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string bound_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_METRICS_ENDPOINT_H_
