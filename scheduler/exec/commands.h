// Commands: runs programs as tasks. No thread waits for a process: one thread watches all
// of them, by pidfd and epoll.
//
// What a command sees
//   Standard input is empty, the payload or the inputs. Standard output is the task's
//   output, standard error its log. It runs in a session and process group of its own, with
//   default signal handling and no descriptor but these three. Its environment is what the
//   operator passes on, then JACKDAW_JOB_ID, JACKDAW_TASK_ID and JACKDAW_ATTEMPT, then what
//   the spec says; later ones win.
//
// How it ends
//   The task succeeds when the program exits with status 0. Otherwise:
//     UNKNOWN             exit status N, with the last line of the log
//     ABORTED             killed by a signal, which is named
//     NOT_FOUND           no such program, interpreter or working directory
//     PERMISSION_DENIED   the program may not be executed, the directory not be entered
//     INVALID_ARGUMENT    the file is no program; arguments are too long for the system
//     RESOURCE_EXHAUSTED  the output exceeded max_output_bytes, or the system has no
//                         process or descriptor left although no command runs
//     UNAVAILABLE         the server is shutting down
//     CANCELLED, DEADLINE_EXCEEDED  as asked
//   All that it wrote before it died is kept. When it is to end early, its process group
//   gets SIGTERM and, after the grace, SIGKILL. The attempt ends when the program is dead
//   and its output closed; when others hold the output open, `linger` later. What is left of
//   the process group is then killed: a process that is to outlive its task must leave the
//   group (setsid). When this process dies, the kernel kills the programs it started, but
//   not their own children.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMANDS_H_
#define JACKDAW_SCHEDULER_EXEC_COMMANDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/exec/command_spec.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class Commands {
 public:
  static constexpr int kMaxRunning = 10'000;
  static constexpr std::int64_t kMaxCapturedBytes = std::int64_t{1} << 30;
  static constexpr absl::Duration kMaxGrace = absl::Hours(1);

  struct Options {
    bool allow_all = false;            // Any program.
    std::vector<std::string> allowed;  // Or these; see allow_list.h.
    // Commands at once, 1 to kMaxRunning; 0: twice the usable CPUs. An engine keeps further
    // tasks QUEUED, for all commands share one ConcurrencyLimit. Attempts that come all the
    // same (several engines) wait here, in their order, and their timeouts run meanwhile.
    int max_running = 0;
    std::int64_t max_output_bytes = 64 << 20;  // Of standard output; beyond, the attempt fails.
    std::int64_t max_log_bytes = 1 << 20;      // Of standard error; the rest is cut, with a mark.
    absl::Duration grace = absl::Seconds(5);   // Between SIGTERM and SIGKILL.
    absl::Duration linger = absl::Seconds(1);  // For output that a dead program's heirs hold.
    std::vector<std::string> pass_environment = {"PATH", "HOME", "LANG", "TMPDIR"};
  };

  // Starts the thread that watches, if commands are allowed at all. status() says whether
  // that went well.
  explicit Commands(Options options);
  // Kills what still runs and waits for it. Attempts finish with UNAVAILABLE, and so do
  // those that the actions made here are asked to start later.
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // INVALID_ARGUMENT: an option is out of range. Others: the system refused a thread or a
  // descriptor. Make() returns the same error.
  [[nodiscard]] absl::Status status() const;

  // PERMISSION_DENIED: commands are off, or this program is not allowed. INVALID_ARGUMENT: an
  // empty command, a NUL byte, a limit exceeded.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<Action>> Make(CommandSpec spec);

  [[nodiscard]] bool enabled() const;
  [[nodiscard]] std::int64_t running() const;  // Processes under way.
  [[nodiscard]] std::int64_t queued() const;   // Attempts that wait for their turn.
  [[nodiscard]] int max_running() const;

  // The statistics of all commands, one a program's name (without directory), and at most
  // ProgramStats::kMaxPrograms and `__other__`. Actions of one program share theirs.
  [[nodiscard]] std::vector<std::shared_ptr<ActionStats>> stats() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMANDS_H_
