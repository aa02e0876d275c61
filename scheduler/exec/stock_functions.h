// The functions that every server offers. `payload` and `inputs` are those of the task;
// the inputs are the outputs of its dependencies, in their order. A payload that a function
// cannot read fails the task with INVALID_ARGUMENT, which names the value.
//
//   noop    Does nothing; the output is empty. Payload and inputs are ignored.
//   echo    The output is the payload or, where there is none, the inputs joined.
//   concat  The output is the inputs joined, without anything between them. The payload is
//           ignored.
//   sha256  The output is the SHA-256 digest of the payload followed by the inputs, as 64
//           lower-case hexadecimal digits.
//   sleep   Succeeds after the time in the payload: a duration such as `250ms`, `1.5s` or
//           `1h30m`, or a number of seconds. At most kMaxSleep. The output is empty. It
//           holds no worker and ends early when the task is cancelled or times out.
//   fail    Fails. The payload says how: `CODE` or `CODE: message`, with a canonical code
//           other than OK, such as `UNAVAILABLE: try later`; nothing: UNKNOWN. For trying
//           out retries and failure policies.
//   spin    Uses the CPU for as many microseconds as the payload says, at most
//           kMaxSpinMicroseconds, in the thread's CPU time; ends early when the task is
//           cancelled or times out. The output is empty. For benchmarks.
//
// Joining inputs of more than kMaxJoinedBytes fails with RESOURCE_EXHAUSTED.

#ifndef JACKDAW_SCHEDULER_EXEC_STOCK_FUNCTIONS_H_
#define JACKDAW_SCHEDULER_EXEC_STOCK_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/functions.h"

namespace jackdaw {

inline constexpr absl::Duration kMaxSleep = absl::Hours(24 * 365);
inline constexpr std::int64_t kMaxSpinMicroseconds = 3'600'000'000;  // One hour.
inline constexpr std::size_t kMaxJoinedBytes = 64 << 20;

// Adds the functions above. `timers` outlives every attempt of `sleep`. ALREADY_EXISTS when
// a name is taken, which then keeps its function; the others are registered all the same.
absl::Status RegisterStockFunctions(Functions& functions, TimerQueue& timers);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_STOCK_FUNCTIONS_H_
