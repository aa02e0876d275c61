// Action: what a task does. The graph knows only this interface; functions, commands and
// whatever comes later implement it.
//
// Thread safety
//   An action is shared by many tasks: Start() is called from any worker, concurrently.
//   An Attempt is used by the thread inside Start(); after Detach() any thread may use the
//   returned handle.

#ifndef JACKDAW_SCHEDULER_GRAPH_ACTION_H_
#define JACKDAW_SCHEDULER_GRAPH_ACTION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/action_stats.h"

namespace jackdaw {

class ConcurrencyLimit;  // concurrency_limit.h

// How an attempt ended. `status` decides; the output of an attempt that failed is dropped,
// its log is kept. Of a task's failure the job keeps the code and the message.
struct Outcome {
  absl::Status status;
  Bytes output;
  Bytes log;
};

// One attempt that goes on after Action::Start() returned.
class DetachedAttempt {
 public:
  virtual ~DetachedAttempt() = default;
  // Ends the attempt. Call once; an answer that comes too late (the attempt was given up)
  // is ignored. Any thread.
  virtual void Finish(Outcome outcome) = 0;
};

// One execution of a task, as its action sees it.
class Attempt {
 public:
  [[nodiscard]] virtual absl::string_view job_id() const = 0;
  [[nodiscard]] virtual std::string task_id() const = 0;
  [[nodiscard]] virtual int number() const = 0;  // From 1.

  [[nodiscard]] virtual Bytes payload() const = 0;
  // The outputs of the dependencies, in their order; empty for one that did not succeed.
  [[nodiscard]] virtual std::size_t input_count() const = 0;
  [[nodiscard]] virtual Bytes input(std::size_t i) const = 0;

  // Whether the task was cancelled or timed out meanwhile. For long loops: return soon.
  [[nodiscard]] virtual bool stop_requested() const = 0;

  // For an action that goes on after Start() returns nullopt. `on_stop` is called at most
  // once, from any thread and without locks, with CANCELLED or DEADLINE_EXCEEDED, when the
  // attempt should end early; the action then calls Finish() soon. It may be called before
  // Detach() returns. The attempt is not usable afterwards; payload and inputs taken
  // before stay valid.
  [[nodiscard]] virtual std::shared_ptr<DetachedAttempt> Detach(
      std::function<void(const absl::Status& reason)> on_stop) = 0;

 protected:
  ~Attempt() = default;
};

class Action {
 public:
  // `stats` is where the action's tasks are counted; actions of one name may share it.
  Action(std::string kind, std::shared_ptr<ActionStats> stats)
      : kind_(std::move(kind)), stats_(std::move(stats)) {}
  virtual ~Action() = default;

  // Runs one attempt, on a worker of the pool. Returns its outcome, or nullopt when it goes
  // on after attempt.Detach(). Does not throw. Must not block for long on anything but the CPU.
  [[nodiscard]] virtual std::optional<Outcome> Start(Attempt& attempt) = 0;

  // Whether Start() always ends within about a microsecond. Such tasks are run back to back
  // and share a reading of the clock.
  [[nodiscard]] virtual bool instant() const { return false; }

  // Holds back attempts beyond what it admits, over all actions and jobs that share it; such
  // a task stays QUEUED. Null: no limit. Lives as long as the action.
  [[nodiscard]] virtual ConcurrencyLimit* concurrency_limit() const { return nullptr; }

  [[nodiscard]] absl::string_view kind() const { return kind_; }  // "function", "command".
  [[nodiscard]] const std::shared_ptr<ActionStats>& stats() const { return stats_; }

 private:
  const std::string kind_;
  const std::shared_ptr<ActionStats> stats_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_ACTION_H_
