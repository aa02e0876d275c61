// Progress: what is known of a job that is being watched, and how it looks on a terminal.
//
// Thread safety: none; callers lock.

#ifndef JACKDAW_CLIENT_CLI_PROGRESS_H_
#define JACKDAW_CLIENT_CLI_PROGRESS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::cli {

class Progress {
 public:
  struct Change {
    std::int32_t index;
    v1::Task::State state;
  };

  // `ids`: of the tasks by index, as far as they are known.
  Progress(std::string title, std::vector<std::string> ids)
      : title_(std::move(title)), ids_(std::move(ids)) {}

  // Takes over what an event tells, and returns the tasks that became terminal by it.
  std::vector<Change> Apply(const v1::JobEvent& event);

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const v1::Job& job() const { return job_; }
  [[nodiscard]] std::string TaskLabel(std::int32_t index) const;
  [[nodiscard]] v1::Task::State task_state(std::int32_t index) const;
  // Indices of the tasks that run.
  [[nodiscard]] const std::set<std::int32_t>& running() const { return running_; }

 private:
  std::string title_;
  std::vector<std::string> ids_;
  v1::Job job_;
  std::vector<std::uint8_t> states_;  // v1::Task::State by index.
  std::set<std::int32_t> running_;
};

// How many tasks are terminal.
[[nodiscard]] std::int64_t Done(const v1::TaskCounts& counts);

// "3 running, 1 failed, 2 skipped": what is not zero, without those that SUCCEEDED.
[[nodiscard]] std::string Remarks(const v1::TaskCounts& counts);

// "47 tasks: 45 succeeded, 1 failed, 1 skipped".
[[nodiscard]] std::string Summary(const v1::TaskCounts& counts);

// Two or three lines, each at most `width` columns, without line ends.
enum class Colour { kNo, kYes };
[[nodiscard]] std::vector<std::string> RenderProgress(const Progress& progress,
                                                      absl::Duration elapsed, int width,
                                                      Colour colour);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_PROGRESS_H_
