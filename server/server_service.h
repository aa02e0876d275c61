// ServerService: one short method per RPC of jackdaw.v1.ServerService.
//
// Thread safety: every method from any thread; what it is made of outlives it.

#ifndef JACKDAW_SERVER_SERVER_SERVICE_H_
#define JACKDAW_SERVER_SERVER_SERVICE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "server/catalog.h"
#include "server/job_table.h"
#include "server/rpc/call.h"
#include "server/rpc/service.h"

namespace jackdaw {

namespace v1 {
class ListWorkersRequest;
class ListWorkersResponse;
class Server;
}  // namespace v1

class ServerService {
 public:
  struct Facts {
    std::string version;
    absl::Time start_time;
    std::vector<std::string> addresses;
  };

  ServerService(const WorkStealingPool& pool, const JobTable& table, Catalog catalog, Facts facts);

  // Gives `service` its handlers.
  void Register(RpcService* service);

 private:
  absl::Status GetServer(const Call& call, v1::Server* response);
  absl::Status ListWorkers(const v1::ListWorkersRequest& request,
                           v1::ListWorkersResponse* response);

  const WorkStealingPool& pool_;
  const JobTable& table_;
  const Catalog catalog_;
  const Facts facts_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_SERVER_SERVICE_H_
