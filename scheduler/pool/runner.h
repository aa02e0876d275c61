// Runner: something that runs tasks. A pool, a single thread, the calling thread; or a
// kind of the user's own, for any class that implements these few methods is a runner.
//
// Thread safety: every method from any thread, unless it says otherwise.

#ifndef JACKDAW_SCHEDULER_POOL_RUNNER_H_
#define JACKDAW_SCHEDULER_POOL_RUNNER_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

// What happens to accepted work that has not started when a runner shuts down.
enum class ShutdownMode {
  kDrain,   // It runs, and so does what it spawns in turn.
  kCancel,  // It is dropped: Task::Drop() instead of Task::Run().
};

class Runner {
 public:
  virtual ~Runner() = default;

  // Accepts `task`, which then runs or is dropped exactly once (see task.h). False when
  // the runner has been shut down: the task stays the caller's. While draining, a runner
  // still accepts from its own tasks. Does not block.
  [[nodiscard]] virtual bool Submit(Task* task) = 0;

  // Runs `body` at some time. UNAVAILABLE when the runner has been shut down.
  template <typename Body>
  absl::Status Run(Body&& body) {
    Task* task = MakeTask(std::forward<Body>(body));
    if (Submit(task)) return absl::OkStatus();
    task->Drop();
    return ShutdownError();
  }

  // For people: in metrics, logs and thread names.
  [[nodiscard]] virtual absl::string_view name() const = 0;

  // How many threads run tasks. 0: the caller drives.
  [[nodiscard]] virtual int size() const = 0;

  // Accepted and not finished, at about this moment.
  [[nodiscard]] virtual std::int64_t task_count() const = 0;

  // Refuses further work from outside and stops once what was accepted is finished or
  // dropped. Idempotent. ShutdownAndWait blocks until the threads are gone, unless it is
  // called by one of them, which then leaves on its own.
  virtual void Shutdown(ShutdownMode mode) = 0;
  virtual void ShutdownAndWait(ShutdownMode mode) = 0;

  // The runner that the calling thread works for, or null.
  [[nodiscard]] static Runner* Current();

 protected:
  [[nodiscard]] absl::Status ShutdownError() const;
  // For implementors: declares what Current() returns on this thread.
  static void SetCurrent(Runner* runner);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_RUNNER_H_
