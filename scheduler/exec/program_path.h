// Where a program is.
//
// Thread safety: any thread. They look at the file system, briefly.

#ifndef JACKDAW_SCHEDULER_EXEC_PROGRAM_PATH_H_
#define JACKDAW_SCHEDULER_EXEC_PROGRAM_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

// The first executable file called `name` (without a slash) in the absolute directories of
// `search_path`, which has the form of PATH; others in it are passed over. NOT_FOUND: there
// is none. PERMISSION_DENIED: there is a file, but it may not be executed.
[[nodiscard]] absl::StatusOr<std::string> FindProgram(absl::string_view name,
                                                      absl::string_view search_path);

// `path` with the links in its directory followed and those of its last name kept: where
// /bin is a link to /usr/bin, /bin/sh is /usr/bin/sh, but never what sh itself points to,
// which may be one binary with many names. "" when the directory does not exist.
[[nodiscard]] std::string CanonicalProgram(const std::string& path);

// What follows the last slash.
[[nodiscard]] absl::string_view Basename(absl::string_view path);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_PROGRAM_PATH_H_
