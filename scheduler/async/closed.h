// What channels and blocking queues share: how an attempt ends, and what being closed means.
//
// Closed: nothing goes in any more. What is inside still comes out, in its order; whoever
// asks for more then learns that there will be none.

#ifndef JACKDAW_SCHEDULER_ASYNC_CLOSED_H_
#define JACKDAW_SCHEDULER_ASYNC_CLOSED_H_

#include "absl/status/status.h"

namespace jackdaw {

// What became of an attempt that does not wait.
enum class Attempt {
  kDone,
  kWouldWait,  // Full or empty just now.
  kClosed,     // And, where something was to come out, nothing is left.
};

// OUT_OF_RANGE, as at the end of a file: what was to be pushed or popped is past the end.
[[nodiscard]] inline absl::Status ClosedError() { return absl::OutOfRangeError("closed"); }

// Whether a push or a pop failed for that reason.
[[nodiscard]] inline bool IsClosed(const absl::Status& status) {
  return absl::IsOutOfRange(status);
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_CLOSED_H_
