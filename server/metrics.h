// Metrics: everything that /metrics tells, read at the moment of the scrape from counters
// that their owners keep anyway. A scrape takes no lock that running a task takes.
//
// Invariant: the number of series does not depend on how many jobs or tasks there are. What
// a client can name is capped where it is counted: programs by exec's ProgramStats, jobs by
// JobNames.
//
// Thread safety: Collect() from any thread.

#ifndef JACKDAW_SERVER_METRICS_H_
#define JACKDAW_SERVER_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/exec/commands.h"
#include "scheduler/exec/functions.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "server/job_names.h"
#include "server/job_table.h"
#include "server/rpc/rpc_counters.h"

namespace jackdaw {

class Metrics final : public prometheus::Collectable {
 public:
  // All outlive the metrics.
  struct Sources {
    const WorkStealingPool* pool;
    const JobEngine* engine;
    const Functions* functions;
    const Commands* commands;
    const JobTable* table;
    const JobNames* job_names;
    const RpcCounters* rpcs;
    std::string version;
    absl::Time start_time;
  };

  explicit Metrics(Sources sources);

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Sources sources_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_METRICS_H_
