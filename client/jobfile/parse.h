// Reads job files: YAML, and JSON as a subset of it.
//
// Errors
//   A file that cannot be read: the status of the attempt (NOT_FOUND, PERMISSION_DENIED, ...).
//   A file that is wrong: INVALID_ARGUMENT, one line for each mistake, at most
//   kMaxReportedErrors of them:
//     FILE:LINE:COLUMN: field: what was found, what was expected

#ifndef JACKDAW_CLIENT_JOBFILE_PARSE_H_
#define JACKDAW_CLIENT_JOBFILE_PARSE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/jobfile/job_file.h"

namespace jackdaw::jobfile {

// A larger graph is a program's work: see JobBuilder, which needs no file.
inline constexpr std::size_t kMaxFileBytes = 16 << 20;

// Parses `text`. `file_name` stands in messages and, without its folder and ending, is the
// job's name where the text gives none.
[[nodiscard]] absl::StatusOr<JobFile> ParseJobFile(const std::string& text,
                                                   absl::string_view file_name);

// Reads and parses the file at `path`; "-" is standard input. Blocks.
[[nodiscard]] absl::StatusOr<JobFile> LoadJobFile(const std::string& path);

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_PARSE_H_
