// Commands: runs programs as tasks. No thread waits for a process: one thread watches all
// of them, by pidfd and epoll.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMANDS_H_
#define JACKDAW_SCHEDULER_EXEC_COMMANDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

struct CommandSpec {
  enum class Stdin { kEmpty, kPayload, kInputs };
  std::vector<std::string> argv;  // The program and its arguments; looked up in PATH.
  std::map<std::string, std::string> environment;
  std::string working_directory;  // "": the server's.
  Stdin stdin_from = Stdin::kEmpty;
};

class Commands {
 public:
  struct Options {
    bool allow_all = false;                  // Any program.
    std::vector<std::string> allowed;        // Or these: names as found in PATH, or absolute paths.
    int max_running = 0;                     // 0: twice the usable CPUs.
    std::int64_t max_output_bytes = 64 << 20;  // Of standard output; beyond, the attempt fails.
    std::int64_t max_log_bytes = 1 << 20;      // Of standard error; the rest is cut, with a mark.
    absl::Duration grace = absl::Seconds(5);   // Between SIGTERM and SIGKILL.
    std::vector<std::string> pass_environment = {"PATH", "HOME", "LANG", "TMPDIR"};
  };

  explicit Commands(Options options);
  // Kills what still runs and waits for it.
  ~Commands();

  // PERMISSION_DENIED: commands are off, or this program is not allowed. INVALID_ARGUMENT: an
  // empty command, a NUL byte, a limit exceeded.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<Action>> Make(CommandSpec spec);
  [[nodiscard]] bool enabled() const;
  [[nodiscard]] std::int64_t running() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMANDS_H_
