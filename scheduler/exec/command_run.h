// CommandRun: one attempt at a command, from the queue to its outcome.
//
//   new -> queued -> running -> done        and from new and queued straight to done
//
// While it runs, its process is in one of these phases:
//   kRunning      the program does its work
//   kTerminating  SIGTERM was sent to its process group; SIGKILL follows after the grace
//   kLingering    the program is dead, but others hold its output open
//   kKilled       SIGKILL was sent to the group; whoever left it may still hold the output
// It has ended when the program is dead and nothing of its output is awaited any more. Only
// then it is reaped: until that moment its number cannot be another process's, so signals
// to its group reach nobody else.
//
// Thread safety: made by one thread and handed to the reactor's, which alone uses it.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMAND_RUN_H_
#define JACKDAW_SCHEDULER_EXEC_COMMAND_RUN_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/base/bytes.h"
#include "scheduler/base/unique_fd.h"
#include "scheduler/exec/command_host.h"
#include "scheduler/exec/command_spec.h"
#include "scheduler/exec/output_capture.h"
#include "scheduler/exec/poller.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class CommandRun {
 public:
  struct Request {
    std::shared_ptr<const CommandSpec> spec;
    std::string path;  // The file to execute.
    // On top of the operator's and the spec's: JACKDAW_JOB_ID, ...
    std::vector<std::pair<std::string, std::string>> identity;
    std::vector<Bytes> stdin_data;  // One after the other. Ignored for Stdin::kEmpty.
  };
  enum class State { kNew, kQueued, kRunning, kDone };
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  CommandRun(Request request, const CommandLimits& limits);
  ~CommandRun();
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

  // To whom the outcome goes. Before the reactor knows the run.
  void set_attempt(std::shared_ptr<DetachedAttempt> attempt) { attempt_ = std::move(attempt); }

  [[nodiscard]] State state() const { return state_; }
  void set_queued() { state_ = State::kQueued; }

  // Starts the process. Errors as Spawner::Spawn(); then the run is as before.
  absl::Status Spawn(CommandHost& host);

  // Below: only while it runs, with the clock's monotonic time.
  void OnReady(CommandHost& host, Watch::Channel channel, std::int64_t now_ns);
  void OnDeadline(CommandHost& host, std::int64_t now_ns);
  // Ends the process group: SIGTERM, then SIGKILL after the grace. The first reason counts.
  void Terminate(const absl::Status& reason, const CommandLimits& limits, std::int64_t now_ns);
  // The same, with SIGKILL at once.
  void Kill(const absl::Status& reason, const CommandLimits& limits, std::int64_t now_ns);
  // When OnDeadline() wants to be called, or kNever.
  [[nodiscard]] std::int64_t deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] bool ended() const;

  // Reaps an ended process, after killing what is left of its group. Returns the group's
  // number: others of it may have become this process's children.
  pid_t Reap(CommandHost& host);

  // Hands the outcome of a reaped process, or of one that never was, to the attempt.
  void FinishReaped(const CommandLimits& limits);
  void FinishUnstarted(absl::Status status);

  // A stop that came before the reactor knew the run, or while it was queued.
  void set_early_stop(const absl::Status& reason) { stop_reason_ = reason; }
  [[nodiscard]] const std::optional<absl::Status>& stop_reason() const { return stop_reason_; }

  // For the reactor's bookkeeping: the deadline it knows of.
  std::int64_t scheduled_ns = kNever;

 private:
  enum class Phase { kRunning, kTerminating, kLingering, kKilled };

  absl::Status StartProcess(CommandHost& host, UniqueFd& child_stdin, UniqueFd& child_stdout,
                            UniqueFd& child_stderr);
  absl::Status WatchAll(CommandHost& host);
  void FeedStdin(CommandHost& host);
  void ReadOutput(CommandHost& host, Watch& watch, OutputCapture& capture);
  void OnExit(CommandHost& host, std::int64_t now_ns);
  void CheckOutputLimit(const CommandLimits& limits, std::int64_t now_ns);
  void SignalGroup(int signal) const;
  void EnterKilled(const CommandLimits& limits, std::int64_t now_ns);
  void GiveUpOnOutput(CommandHost& host);
  [[nodiscard]] std::string TakeLog(const CommandLimits& limits);

  const Request request_;
  std::shared_ptr<DetachedAttempt> attempt_;
  State state_ = State::kNew;
  std::optional<absl::Status> stop_reason_;

  Phase phase_ = Phase::kRunning;
  std::int64_t deadline_ns_ = kNever;
  pid_t pid_ = -1;
  bool exited_ = false;
  bool output_abandoned_ = false;
  absl::Status exit_status_;

  Watch stdin_{this, Watch::Channel::kStdin};
  Watch stdout_{this, Watch::Channel::kStdout};
  Watch stderr_{this, Watch::Channel::kStderr};
  Watch exit_{this, Watch::Channel::kExit};

  std::size_t stdin_item_ = 0;    // Which of the data is being written,
  std::size_t stdin_offset_ = 0;  // and how much of it was.
  OutputCapture output_;
  OutputCapture log_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMAND_RUN_H_
