// The words of a job file: names of enum values, durations, and what a misspelt one was
// probably meant to be. Pure functions.

#ifndef JACKDAW_CLIENT_JOBFILE_WORDS_H_
#define JACKDAW_CLIENT_JOBFILE_WORDS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/jobfile/job_file.h"

namespace jackdaw::jobfile {

template <typename T>
using Words = std::vector<std::pair<absl::string_view, T>>;

[[nodiscard]] const Words<FailurePolicy>& FailurePolicyWords();
[[nodiscard]] const Words<Priority>& PriorityWords();
[[nodiscard]] const Words<RunIf>& RunIfWords();
[[nodiscard]] const Words<Stdin>& StdinWords();
// The canonical codes a task can fail with: all but OK.
[[nodiscard]] const Words<absl::StatusCode>& StatusCodeWords();

// The longest span a job file may give: a year. Zero is allowed, below is not.
inline constexpr absl::Duration kMaxDuration = absl::Hours(24 * 365);

// "250ms", "5s", "2m", "1h30m", "0"; nullopt for anything else, negative or endless.
[[nodiscard]] std::optional<absl::Duration> ParseDuration(absl::string_view text);

// The one of `candidates` nearest to `word`, if it is near enough to be a slip of the
// hand; empty otherwise.
[[nodiscard]] std::string Nearest(absl::string_view word,
                                  const std::vector<std::string>& candidates);

// `, did you mean "x"?`, or nothing.
[[nodiscard]] std::string DidYouMean(absl::string_view word,
                                     const std::vector<std::string>& candidates);

// The text in quotes for a message: control characters escaped, cut at about 60 bytes.
[[nodiscard]] std::string Quoted(absl::string_view text);

// The offset of the first byte that is not valid UTF-8; nullopt if all are.
[[nodiscard]] std::optional<std::size_t> FindInvalidUtf8(absl::string_view text);

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_WORDS_H_
