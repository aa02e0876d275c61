// How the stock functions complain about a payload.

#ifndef JACKDAW_SCHEDULER_EXEC_PAYLOAD_H_
#define JACKDAW_SCHEDULER_EXEC_PAYLOAD_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// INVALID_ARGUMENT: function `function` got `payload` (quoted, and cut where it is long)
// and expected `expected`.
[[nodiscard]] absl::Status BadPayload(absl::string_view function, absl::string_view payload,
                                      absl::string_view expected);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_PAYLOAD_H_
