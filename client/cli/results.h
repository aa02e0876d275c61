// What a job came to: the outputs of its last tasks, and why tasks failed.

#ifndef JACKDAW_CLIENT_CLI_RESULTS_H_
#define JACKDAW_CLIENT_CLI_RESULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cpp/client.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::cli {

// So many results and failures are shown; the verbs `tasks`, `result` and `logs` show all.
inline constexpr std::size_t kMaxShown = 10;
inline constexpr std::int32_t kMaxShownBytes = 16 << 10;
inline constexpr std::size_t kMaxShownLines = 30;
inline constexpr std::int64_t kMaxShownLogBytes = 2 << 10;

// A task that did not succeed, with the end of its last attempt's log.
struct Failure {
  v1::Task task;
  std::string log_end;
};

// The tasks of these names or ids, with the beginnings of their outputs; at most kMaxShown.
[[nodiscard]] absl::StatusOr<std::vector<v1::Task>> FetchResults(
    Client& client, const std::string& job, const std::vector<std::string>& tasks);

// The first FAILED tasks of a job; at most kMaxShown.
[[nodiscard]] absl::StatusOr<std::vector<Failure>> FetchFailures(Client& client,
                                                                 const std::string& job);

// "jobs/x SUCCEEDED in 1.2 s, 47 tasks: 47 succeeded".
[[nodiscard]] std::string FormatEnd(const v1::Job& job);
// A heading and the beginning of the output, printable, with a note where something is left
// out. `job` stands in the note.
[[nodiscard]] std::string FormatResult(const std::string& job, const v1::Task& task);
[[nodiscard]] std::string FormatFailure(const Failure& failure);

// The first `max_lines` lines of `text`, the last one ended; `cut` tells whether some are
// missing.
[[nodiscard]] std::string FirstLines(absl::string_view text, std::size_t max_lines, bool* cut);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_RESULTS_H_
