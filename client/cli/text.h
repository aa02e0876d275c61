// Text for people: durations, sizes, names that cannot harm a terminal. Pure functions.

#ifndef JACKDAW_CLIENT_CLI_TEXT_H_
#define JACKDAW_CLIENT_CLI_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/task.pb.h"

namespace jackdaw::cli {

// "850 us", "12.3 ms", "2.45 s", "3 m 20 s", "2 h 5 m". Three digits, for reading.
[[nodiscard]] std::string ReadableDuration(absl::Duration duration);

// "0 bytes", "1 byte", "812 bytes", "1.5 KiB", "64.0 MiB".
[[nodiscard]] std::string ReadableBytes(std::int64_t bytes);

// `count` and the noun, with an s unless there is one: "1 task", "3 tasks".
[[nodiscard]] std::string Count(std::int64_t count, absl::string_view noun);

// `text` without what could move a cursor or hide: control characters and broken UTF-8
// become \n, \x1b, ... Line ends and tabs stay if `lines`.
enum class LineEnds { kEscape, kKeep };
[[nodiscard]] std::string Printable(absl::string_view text, LineEnds line_ends);

// Columns on a terminal, taking each character for one; `text` must be Printable().
[[nodiscard]] std::size_t Width(absl::string_view text);

// At most `width` columns of `text`; what is cut is marked with "...", room permitting.
[[nodiscard]] std::string Clip(absl::string_view text, std::size_t width);

// "SUCCEEDED", "RUNNING", ...
[[nodiscard]] std::string StateName(v1::Job::State state);
[[nodiscard]] std::string StateName(v1::Task::State state);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_TEXT_H_
