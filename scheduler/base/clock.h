// Clock: where time comes from. Injected everywhere, so that a test decides what time it is.
//
// Thread safety: any thread, at any time.

#ifndef JACKDAW_SCHEDULER_BASE_CLOCK_H_
#define JACKDAW_SCHEDULER_BASE_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"

namespace jackdaw {

class Clock {
 public:
  virtual ~Clock() = default;

  // Wall time, for people and records. May jump.
  [[nodiscard]] virtual absl::Time Now() const = 0;

  // Nanoseconds since an arbitrary start. Never goes back; for spans and deadlines.
  [[nodiscard]] virtual std::int64_t MonotonicNanos() const = 0;

  // The machine's clock; lives for ever.
  static Clock& Real();
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_CLOCK_H_
