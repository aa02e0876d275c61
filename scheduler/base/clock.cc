#include "scheduler/base/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace jackdaw {
namespace {

class RealClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
  std::int64_t MonotonicNanos() const override {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }
};

}  // namespace

Clock& Clock::Real() {
  static RealClock clock;
  return clock;
}

}  // namespace jackdaw
