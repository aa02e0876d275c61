// CommandReactor: the one thread that watches all commands. It starts them in the order in
// which they came, at most `max_running` at once, feeds and drains their pipes, sends
// signals when their time is up, and reaps them.
//
// Thread safety: the public methods from any thread. Outcomes are delivered on the
// reactor's thread, with no lock held.
//
// Errors: when the system refuses another process or descriptor while others run, an
// attempt waits for one of those to end; when none runs, it fails with RESOURCE_EXHAUSTED.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMAND_REACTOR_H_
#define JACKDAW_SCHEDULER_EXEC_COMMAND_REACTOR_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/exec/command_host.h"
#include "scheduler/exec/command_run.h"

namespace jackdaw {

class CommandReactor {
 public:
  struct Options {
    CommandLimits limits;
    std::map<std::string, std::string> environment;
    int max_running = 1;
  };

  // RESOURCE_EXHAUSTED and others: the system refused a thread or a descriptor.
  static absl::StatusOr<std::shared_ptr<CommandReactor>> Create(Options options);
  ~CommandReactor();

  // Takes over `run`, whose attempt it will finish. False after Shutdown(): it did not.
  [[nodiscard]] bool Submit(std::shared_ptr<CommandRun> run);

  // Ends `run` early, be it submitted, running, or yet to be submitted.
  void Stop(std::shared_ptr<CommandRun> run, const absl::Status& reason);

  // Kills what runs, finishes every attempt with UNAVAILABLE, and waits for it. Idempotent.
  // Not from the reactor's thread.
  void Shutdown();

  [[nodiscard]] std::int64_t running() const { return running_count_.load(); }
  [[nodiscard]] std::int64_t queued() const { return queued_count_.load(); }
  [[nodiscard]] const CommandLimits& limits() const { return host_.limits; }

 private:
  // What other threads left for the reactor's.
  struct Inbox {
    std::vector<std::shared_ptr<CommandRun>> submitted;
    std::vector<std::pair<std::shared_ptr<CommandRun>, absl::Status>> stops;
    bool closing = false;
  };

  explicit CommandReactor(Options options);
  absl::Status Open();

  // All below: the reactor's thread.
  void Loop();
  void TakeInbox();
  void StopNow(CommandRun& run, const absl::Status& reason);
  void KillAll();
  void StartQueued();
  // Looks at what became of `run`: ended, or with another deadline.
  void Settle(CommandRun& run);
  void Complete(CommandRun& run);
  void RunDeadlines();
  void ReapAdopted();
  [[nodiscard]] int TimeoutMs() const;

  const int max_running_;
  CommandHost host_;
  std::thread thread_;
  std::atomic<std::int64_t> running_count_{0};  // Written by the reactor's thread only.
  std::atomic<std::int64_t> queued_count_{0};

  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  // The reactor's thread only.
  bool closing_ = false;
  bool starved_ = false;  // The system refused; wait until a command has ended.
  std::deque<std::shared_ptr<CommandRun>> queue_;  // Stopped ones stay, done, until they come up.
  absl::flat_hash_map<CommandRun*, std::shared_ptr<CommandRun>> running_;
  std::set<std::pair<std::int64_t, CommandRun*>> deadlines_;
  std::vector<std::shared_ptr<CommandRun>> completed_;  // Kept until no event can name them.
  std::vector<pid_t> adopted_groups_;  // Killed groups that may still have children of ours.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMAND_REACTOR_H_
