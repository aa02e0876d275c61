#include "scheduler/exec/command_reactor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "scheduler/base/clock.h"

namespace jackdaw {
namespace {

constexpr std::size_t kReadBufferBytes = 64 * 1024;  // What a pipe holds by default.
constexpr int kAdoptedPollMs = 10;

std::int64_t NowNanos() { return Clock::Real().MonotonicNanos(); }

absl::Status ShuttingDown() { return absl::UnavailableError("commands are being shut down"); }

// No signal is for the reactor's thread: a handler must not run in a child that borrows its
// memory, and SIGPIPE is an error code here.
class BlockAllSignals {
 public:
  BlockAllSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockAllSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

CommandReactor::CommandReactor(Options options) : max_running_(options.max_running) {
  host_.limits = options.limits;
  host_.environment = std::move(options.environment);
  host_.read_buffer.resize(kReadBufferBytes);
}

CommandReactor::~CommandReactor() { Shutdown(); }

absl::StatusOr<std::shared_ptr<CommandReactor>> CommandReactor::Create(Options options) {
  std::shared_ptr<CommandReactor> reactor(new CommandReactor(std::move(options)));
  if (absl::Status opened = reactor->Open(); !opened.ok()) return opened;
  return reactor;
}

absl::Status CommandReactor::Open() {
  if (absl::Status opened = host_.poller.Open(); !opened.ok()) return opened;
  // Children get it as their standard input, so it must not be in its place already.
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.valid()) host_.dev_null = UniqueFd(fcntl(null.get(), F_DUPFD_CLOEXEC, 3));
  if (!host_.dev_null.valid()) return absl::ErrnoToStatus(errno, "opening /dev/null");
  const BlockAllSignals block;  // The thread inherits the mask.
  try {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "commands");
      Loop();
    });
  } catch (const std::system_error& e) {
    return absl::ResourceExhaustedError(absl::StrCat("starting a thread: ", e.what()));
  }
  return absl::OkStatus();
}

bool CommandReactor::Submit(std::shared_ptr<CommandRun> run) {
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) return false;
    inbox_.submitted.push_back(std::move(run));
  }
  queued_count_.fetch_add(1);
  host_.poller.Wake();
  return true;
}

void CommandReactor::Stop(std::shared_ptr<CommandRun> run, const absl::Status& reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) return;
    inbox_.stops.emplace_back(std::move(run), reason);
  }
  host_.poller.Wake();
}

void CommandReactor::Shutdown() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    inbox_.closing = true;
  }
  if (!thread_.joinable()) return;
  host_.poller.Wake();
  thread_.join();
}

void CommandReactor::Loop() {
  while (true) {
    TakeInbox();
    StartQueued();
    if (closing_ && running_.empty() && adopted_groups_.empty()) break;
    const absl::Span<Watch* const> ready = host_.poller.Wait(TimeoutMs());
    for (Watch* watch : ready) {
      CommandRun& run = *watch->run;
      if (run.state() != CommandRun::State::kRunning) continue;  // Completed in this batch.
      run.OnReady(host_, watch->channel, NowNanos());
      Settle(run);
    }
    RunDeadlines();
    ReapAdopted();
    completed_.clear();
  }
}

void CommandReactor::TakeInbox() {
  Inbox inbox;
  {
    absl::MutexLock lock(&mutex_);
    std::swap(inbox, inbox_);
  }
  for (std::shared_ptr<CommandRun>& run : inbox.submitted) {
    run->set_queued();
    const std::optional<absl::Status> stop = run->stop_reason();
    if (stop.has_value()) {
      queued_count_.fetch_sub(1);
      run->FinishUnstarted(*stop);
    } else {
      queue_.push_back(std::move(run));
    }
  }
  for (const auto& [run, reason] : inbox.stops) StopNow(*run, reason);
  if (inbox.closing) KillAll();
}

void CommandReactor::StopNow(CommandRun& run, const absl::Status& reason) {
  switch (run.state()) {
    case CommandRun::State::kNew:
      return run.set_early_stop(reason);
    case CommandRun::State::kQueued:
      queued_count_.fetch_sub(1);
      return run.FinishUnstarted(reason);
    case CommandRun::State::kRunning:
      run.Terminate(reason, host_.limits, NowNanos());
      return Settle(run);
    case CommandRun::State::kDone:
      return;
  }
}

void CommandReactor::KillAll() {
  closing_ = true;
  for (const std::shared_ptr<CommandRun>& run : queue_) {
    if (run->state() == CommandRun::State::kQueued) StopNow(*run, ShuttingDown());
  }
  queue_.clear();
  for (const auto& [key, run] : running_) {
    run->Kill(ShuttingDown(), host_.limits, NowNanos());
    if (!run->ended()) Settle(*run);  // One that has ended is settled by its next event.
  }
}

void CommandReactor::StartQueued() {
  while (!queue_.empty() && !starved_ && static_cast<int>(running_.size()) < max_running_) {
    std::shared_ptr<CommandRun> run = std::move(queue_.front());
    queue_.pop_front();
    if (run->state() != CommandRun::State::kQueued) continue;
    const absl::Status spawned = run->Spawn(host_);
    if (absl::IsResourceExhausted(spawned) && !running_.empty()) {
      starved_ = true;
      queue_.push_front(std::move(run));
      return;
    }
    queued_count_.fetch_sub(1);
    if (!spawned.ok()) {
      run->FinishUnstarted(spawned);
      continue;
    }
    running_.emplace(run.get(), run);
    running_count_.store(static_cast<std::int64_t>(running_.size()));
  }
}

void CommandReactor::Settle(CommandRun& run) {
  if (run.ended()) return Complete(run);
  const std::int64_t deadline = run.deadline_ns();
  if (deadline == run.scheduled_ns) return;
  deadlines_.erase({run.scheduled_ns, &run});
  run.scheduled_ns = deadline;
  if (deadline != CommandRun::kNever) deadlines_.insert({deadline, &run});
}

void CommandReactor::Complete(CommandRun& run) {
  deadlines_.erase({run.scheduled_ns, &run});
  adopted_groups_.push_back(run.Reap(host_));
  const auto found = running_.find(&run);
  completed_.push_back(std::move(found->second));
  running_.erase(found);
  running_count_.store(static_cast<std::int64_t>(running_.size()));
  starved_ = false;
  run.FinishReaped(host_.limits);
}

void CommandReactor::RunDeadlines() {
  const std::int64_t now = NowNanos();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    CommandRun& run = *deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    run.scheduled_ns = CommandRun::kNever;
    run.OnDeadline(host_, now);
    Settle(run);
  }
}

// Where this process is the one that inherits orphans (process 1 of a container), killed
// members of a command's group became its children. They are waited for by their group,
// whose number is taken as long as one of them is left.
void CommandReactor::ReapAdopted() {
  const auto gone = [](pid_t group) {
    siginfo_t info{};
    int result;
    while ((result = waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG)) == 0 &&
           info.si_pid != 0) {
      info = siginfo_t{};
    }
    return result != 0;  // ECHILD: no child of ours is in the group.
  };
  adopted_groups_.erase(std::remove_if(adopted_groups_.begin(), adopted_groups_.end(), gone),
                        adopted_groups_.end());
}

int CommandReactor::TimeoutMs() const {
  if (!adopted_groups_.empty()) return kAdoptedPollMs;
  if (deadlines_.empty()) return -1;
  const std::int64_t left = deadlines_.begin()->first - NowNanos();
  if (left <= 0) return 0;
  constexpr std::int64_t kLongestMs = 3'600'000;
  // Rounded up: waking a moment early would only spin.
  return static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, kLongestMs));
}

}  // namespace jackdaw
