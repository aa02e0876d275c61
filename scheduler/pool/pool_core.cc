#include "scheduler/pool/pool_core.h"

#include <algorithm>

#include "scheduler/base/random.h"
#include "scheduler/pool/worker.h"

namespace jackdaw {

PoolCore::PoolCore(const Options& options)
    : threads(options.threads),
      spin_ns(options.spin_ns),
      clock(*options.clock),
      pool(*options.pool),
      idle(options.threads),
      source(std::max(1, options.threads)) {
  Random seeds(options.seed);
  for (int i = 0; i < std::max(1, threads); ++i) {
    workers.push_back(std::make_unique<Worker>(*this, i, seeds.Next()));
  }
}

PoolCore::~PoolCore() = default;

}  // namespace jackdaw
