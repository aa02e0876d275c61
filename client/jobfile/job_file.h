// JobFile: what a job file says, checked, with its defaults applied. docs/job-file.md
// describes every field for those who write one.
//
// Fields left out of the file stay empty here: the server's defaults apply then.

#ifndef JACKDAW_CLIENT_JOBFILE_JOB_FILE_H_
#define JACKDAW_CLIENT_JOBFILE_JOB_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace jackdaw::jobfile {

enum class FailurePolicy { kContinue, kFailFast };
enum class Priority { kLow, kNormal, kHigh };
enum class RunIf { kAllSucceeded, kAllDone, kAnyFailed };
enum class Stdin { kEmpty, kPayload, kInputs };

struct Retry {
  std::optional<int> attempts;
  std::optional<absl::Duration> initial_backoff;
  std::optional<absl::Duration> max_backoff;
  std::optional<double> multiplier;
  std::optional<double> jitter;
  std::optional<std::vector<absl::StatusCode>> codes;
};

// What the `defaults` block may give for every task.
struct Policy {
  std::optional<RunIf> run_if;
  std::optional<Priority> priority;
  std::optional<absl::Duration> timeout;
  std::optional<absl::Duration> queue_timeout;
  std::optional<Retry> retry;
  std::optional<std::string> runner;
};

// What holds for commands only; `defaults` may give it too.
struct Surroundings {
  std::map<std::string, std::string> env;
  std::optional<std::string> workdir;
};

struct Task {
  std::string id;
  // Exactly one of the two is given.
  std::string function;
  std::vector<std::string> command;

  std::string payload;
  std::vector<std::string> after;           // Ids, as in the file.
  std::vector<std::uint32_t> dependencies;  // The same as places in JobFile::tasks.
  std::map<std::string, std::string> labels;
  Policy policy;
  Stdin stdin_from = Stdin::kEmpty;
  Surroundings surroundings;
};

struct JobFile {
  std::string name;  // Never empty: the file's own name where the file gives none.
  std::optional<FailurePolicy> failure_policy;
  std::optional<Priority> priority;
  std::optional<absl::Duration> timeout;
  std::map<std::string, std::string> labels;
  std::vector<Task> tasks;  // In the order of the file; at least one.
};

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_JOB_FILE_H_
