// HealthService: the standard health service. One of our own rather than gRPC's, so that
// it needs no threads of its own and reflection can describe it.
//
// Thread safety: every method from any thread. Shared with the calls that watch.

#ifndef JACKDAW_SERVER_HEALTH_SERVICE_H_
#define JACKDAW_SERVER_HEALTH_SERVICE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/rpc/call.h"
#include "server/rpc/rpc.h"
#include "server/rpc/service.h"

namespace jackdaw {

class HealthService : public std::enable_shared_from_this<HealthService> {
 public:
  // `services`: the full names that clients may ask about, besides the empty one.
  explicit HealthService(std::vector<std::string> services);

  // Gives `service` its handlers. It may be one of several servers'.
  void Register(RpcService* service);

  // Whether the server takes requests; at first it does not. Watchers are told.
  void SetServing(bool serving);

 private:
  Rpc Watch(std::shared_ptr<Call> call);
  [[nodiscard]] bool Knows(absl::string_view service) const;
  [[nodiscard]] bool serving() const;

  using Watchers = std::list<std::shared_ptr<Signal>>;
  Watchers::iterator AddWatcher(std::shared_ptr<Signal> signal);
  void RemoveWatcher(Watchers::iterator watcher);

  const std::vector<std::string> services_;
  mutable absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  Watchers watchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_HEALTH_SERVICE_H_
