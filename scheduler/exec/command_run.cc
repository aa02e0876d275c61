#include "scheduler/exec/command_run.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "absl/strings/str_cat.h"
#include "scheduler/exec/exit_status.h"

namespace jackdaw {
namespace {

// Of `NAME=value` strings or arguments, with the null at the end that execve() wants.
std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const CommandHost& host, const CommandRun::Request& request) {
  std::map<std::string, std::string> merged = host.environment;
  for (const auto& [name, value] : request.identity) merged[name] = value;
  for (const auto& [name, value] : request.spec->environment) merged[name] = value;
  std::vector<std::string> strings;
  strings.reserve(merged.size());
  for (const auto& [name, value] : merged) strings.push_back(absl::StrCat(name, "=", value));
  return strings;
}

// Blocks, but only for a process that is dead or was sent SIGKILL.
siginfo_t WaitFor(int pidfd) {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) != 0) {
    if (errno != EINTR) break;
  }
  return info;
}

}  // namespace

CommandRun::CommandRun(Request request, const CommandLimits& limits)
    : request_(std::move(request)), output_(limits.max_output_bytes), log_(limits.max_log_bytes) {}

CommandRun::~CommandRun() = default;

absl::Status CommandRun::Spawn(CommandHost& host) {
  UniqueFd child_stdin;
  UniqueFd child_stdout;
  UniqueFd child_stderr;
  absl::Status status = StartProcess(host, child_stdin, child_stdout, child_stderr);
  if (status.ok()) {
    status = WatchAll(host);
    if (!status.ok()) {
      SignalGroup(SIGKILL);
      WaitFor(exit_.fd.get());
    }
  }
  if (!status.ok()) {
    for (Watch* watch : {&stdin_, &stdout_, &stderr_, &exit_}) host.poller.Close(*watch);
    return status;
  }
  state_ = State::kRunning;
  FeedStdin(host);
  return absl::OkStatus();
}

absl::Status CommandRun::StartProcess(CommandHost& host, UniqueFd& child_stdin,
                                      UniqueFd& child_stdout, UniqueFd& child_stderr) {
  const CommandSpec& spec = *request_.spec;
  SpawnRequest spawn;
  spawn.stdin_fd = host.dev_null.get();
  if (spec.stdin_from != CommandSpec::Stdin::kEmpty) {
    absl::StatusOr<Pipe> pipe = MakePipe(/*nonblocking_end=*/1);
    if (!pipe.ok()) return pipe.status();
    child_stdin = std::move(pipe->read);
    stdin_.fd = std::move(pipe->write);
    spawn.stdin_fd = child_stdin.get();
  }
  absl::StatusOr<Pipe> out = MakePipe(/*nonblocking_end=*/0);
  if (!out.ok()) return out.status();
  absl::StatusOr<Pipe> err = MakePipe(/*nonblocking_end=*/0);
  if (!err.ok()) return err.status();
  stdout_.fd = std::move(out->read);
  stderr_.fd = std::move(err->read);
  child_stdout = std::move(out->write);
  child_stderr = std::move(err->write);

  const std::vector<std::string> environment = Environment(host, request_);
  const std::vector<char*> argv = Pointers(spec.argv);
  const std::vector<char*> envp = Pointers(environment);
  spawn.path = request_.path.c_str();
  spawn.argv = argv.data();
  spawn.envp = envp.data();
  if (!spec.working_directory.empty()) spawn.working_directory = spec.working_directory.c_str();
  spawn.stdout_fd = child_stdout.get();
  spawn.stderr_fd = child_stderr.get();
  absl::StatusOr<SpawnedProcess> process = host.spawner.Spawn(spawn);
  if (!process.ok()) return process.status();
  pid_ = process->pid;
  exit_.fd = std::move(process->pidfd);
  return absl::OkStatus();
}

absl::Status CommandRun::WatchAll(CommandHost& host) {
  absl::Status status = host.poller.Add(exit_, Poller::Interest::kReadable);
  if (status.ok()) status = host.poller.Add(stdout_, Poller::Interest::kReadable);
  if (status.ok()) status = host.poller.Add(stderr_, Poller::Interest::kReadable);
  if (status.ok() && stdin_.fd.valid()) {
    status = host.poller.Add(stdin_, Poller::Interest::kWritable);
  }
  return status;
}

void CommandRun::OnReady(CommandHost& host, Watch::Channel channel, std::int64_t now_ns) {
  switch (channel) {
    case Watch::Channel::kStdin:
      return FeedStdin(host);
    case Watch::Channel::kStdout:
      ReadOutput(host, stdout_, output_);
      return CheckOutputLimit(host.limits, now_ns);
    case Watch::Channel::kStderr:
      return ReadOutput(host, stderr_, log_);
    case Watch::Channel::kExit:
      return OnExit(host, now_ns);
  }
}

// Writes what the pipe takes. A reader that went away is no error: `head -1` may.
void CommandRun::FeedStdin(CommandHost& host) {
  if (!stdin_.fd.valid()) return;
  while (stdin_item_ < request_.stdin_data.size()) {
    const absl::string_view data = request_.stdin_data[stdin_item_].view().substr(stdin_offset_);
    if (data.empty()) {
      ++stdin_item_;
      stdin_offset_ = 0;
      continue;
    }
    // The reactor's thread blocks SIGPIPE.
    const ssize_t n = write(stdin_.fd.get(), data.data(), data.size());
    if (n >= 0) {
      stdin_offset_ += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      break;
    }
  }
  host.poller.Close(stdin_);
}

void CommandRun::ReadOutput(CommandHost& host, Watch& watch, OutputCapture& capture) {
  if (!watch.fd.valid()) return;
  const auto read = capture.ReadFrom(watch.fd.get(), absl::MakeSpan(host.read_buffer));
  if (read == OutputCapture::Read::kEnd) host.poller.Close(watch);
}

void CommandRun::CheckOutputLimit(const CommandLimits& limits, std::int64_t now_ns) {
  if (output_.dropped_bytes() == 0 || stop_reason_.has_value()) return;
  Terminate(
      absl::ResourceExhaustedError(absl::StrCat(
          "standard output: ", output_.total_bytes(), " bytes and counting exceed the limit of ",
          limits.max_output_bytes, " (max_output_bytes); the command was ended")),
      limits, now_ns);
}

// The process stays a zombie, and its number its own, until Reap().
void CommandRun::OnExit(CommandHost& host, std::int64_t now_ns) {
  host.poller.Remove(exit_);
  exited_ = true;
  host.poller.Close(stdin_);
  if (phase_ == Phase::kRunning) {
    phase_ = Phase::kLingering;
    deadline_ns_ = now_ns + absl::ToInt64Nanoseconds(host.limits.linger);
  }
}

void CommandRun::OnDeadline(CommandHost& host, std::int64_t now_ns) {
  switch (phase_) {
    case Phase::kRunning:
      return;
    case Phase::kTerminating:
    case Phase::kLingering:
      // What the program and its children wrote until now counts; it is in the pipes.
      ReadOutput(host, stdout_, output_);
      ReadOutput(host, stderr_, log_);
      output_abandoned_ = phase_ == Phase::kLingering;
      return EnterKilled(host.limits, now_ns);
    case Phase::kKilled:
      return GiveUpOnOutput(host);
  }
}

void CommandRun::Terminate(const absl::Status& reason, const CommandLimits& limits,
                           std::int64_t now_ns) {
  if (stop_reason_.has_value()) return;
  if (exited_ || phase_ != Phase::kRunning || limits.grace <= absl::ZeroDuration()) {
    return Kill(reason, limits, now_ns);
  }
  stop_reason_ = reason;
  phase_ = Phase::kTerminating;
  deadline_ns_ = now_ns + absl::ToInt64Nanoseconds(limits.grace);
  SignalGroup(SIGTERM);
  SignalGroup(SIGCONT);  // A stopped process must wake up to notice.
}

void CommandRun::Kill(const absl::Status& reason, const CommandLimits& limits,
                      std::int64_t now_ns) {
  if (!stop_reason_.has_value()) stop_reason_ = reason;
  if (phase_ != Phase::kKilled) EnterKilled(limits, now_ns);
}

void CommandRun::EnterKilled(const CommandLimits& limits, std::int64_t now_ns) {
  phase_ = Phase::kKilled;
  deadline_ns_ = now_ns + absl::ToInt64Nanoseconds(limits.linger);
  SignalGroup(SIGKILL);
}

void CommandRun::GiveUpOnOutput(CommandHost& host) {
  ReadOutput(host, stdout_, output_);
  ReadOutput(host, stderr_, log_);
  if (stdout_.fd.valid() || stderr_.fd.valid()) output_abandoned_ = true;
  host.poller.Close(stdout_);
  host.poller.Close(stderr_);
  deadline_ns_ = kNever;  // Not even SIGKILL hurries a process that the kernel holds.
}

bool CommandRun::ended() const { return exited_ && !stdout_.fd.valid() && !stderr_.fd.valid(); }

void CommandRun::SignalGroup(int signal) const { kill(-pid_, signal); }

pid_t CommandRun::Reap(CommandHost& host) {
  SignalGroup(SIGKILL);
  const siginfo_t info = WaitFor(exit_.fd.get());
  exit_status_ = info.si_pid == 0
                     ? absl::UnknownError("the exit status was lost: this server ignores SIGCHLD")
                     : ExitToStatus(info, log_.LastLine());
  for (Watch* watch : {&stdin_, &exit_}) host.poller.Close(*watch);
  deadline_ns_ = kNever;
  state_ = State::kDone;
  return pid_;
}

std::string CommandRun::TakeLog(const CommandLimits& limits) {
  const std::int64_t total = log_.total_bytes();
  const std::int64_t dropped = log_.dropped_bytes();
  std::string log = log_.Take();
  const auto mark = [&log](absl::string_view text) {
    if (!log.empty() && log.back() != '\n') log += '\n';
    absl::StrAppend(&log, "[jackdaw] ", text, "\n");
  };
  if (dropped > 0) {
    mark(absl::StrCat("standard error was cut here: ", total - dropped, " of ", total,
                      " bytes were kept (max_log_bytes)"));
  }
  if (output_abandoned_) {
    mark(absl::StrCat("other processes still held the output ", absl::FormatDuration(limits.linger),
                      " after the program had ended; what they wrote later is missing"));
  }
  return log;
}

void CommandRun::FinishReaped(const CommandLimits& limits) {
  Outcome outcome;
  outcome.status = stop_reason_.has_value() ? *stop_reason_ : exit_status_;
  outcome.output = Bytes(output_.Take());
  outcome.log = Bytes(TakeLog(limits));
  std::exchange(attempt_, nullptr)->Finish(std::move(outcome));
}

void CommandRun::FinishUnstarted(absl::Status status) {
  state_ = State::kDone;
  std::exchange(attempt_, nullptr)->Finish(Outcome{std::move(status), {}, {}});
}

}  // namespace jackdaw
