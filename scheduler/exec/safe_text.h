// Text of unknown origin on its way into a status message or a label.

#ifndef JACKDAW_SCHEDULER_EXEC_SAFE_TEXT_H_
#define JACKDAW_SCHEDULER_EXEC_SAFE_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace jackdaw {

// `text` as it is when it is UTF-8 without control characters, else escaped as in C. Cut to
// about `max_bytes`, with "..." behind.
[[nodiscard]] std::string SafeText(absl::string_view text, std::size_t max_bytes = 200);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_SAFE_TEXT_H_
