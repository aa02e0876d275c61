// Runner: something that runs tasks. The kinds at hand:
//
//   WorkStealingPool   compute: many threads, newest work first, what is idle steals
//   FifoPool           latency and blocking calls: many threads, one queue, oldest first
//   BackgroundThread   one thread, one task at a time: it can own a resource
//   MainRunner         no thread of its own: the caller drives, oldest first
//
// Several runners in one program are normal. Work goes where it was submitted: a task that
// submits to another runner's queue does not run it itself.
//
// Waiting between runners: a task may block on work of another runner as long as the runners
// so waiting form no circle. Where those of A block on B and those of B on A, all threads of
// both can end up waiting for work that is queued behind them. In an order (main, compute,
// blocking I/O, the thread that owns the file) each waits only for those after it.
//
// A kind of one's own implements the pure methods and keeps these promises:
//   (1) each task for which Submit() returned true is run or dropped exactly once;
//   (2) around each there is an AsCurrent;
//   (3) once shut down it refuses work from outside. It may also refuse its own tasks';
//       whoever relies on draining says otherwise.
// tests/scheduler/pool/runner_test.cc has one in forty lines, a main loop.
//
// Thread safety: every method from any thread, unless it says otherwise.

#ifndef JACKDAW_SCHEDULER_POOL_RUNNER_H_
#define JACKDAW_SCHEDULER_POOL_RUNNER_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scheduler/pool/error_edge.h"
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

  // Runs `body` at some time; what it throws goes to the runner's `on_error`, or to standard
  // error. UNAVAILABLE when the runner has been shut down.
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

  // Accepted and not finished, about now. Who sees here that a task is finished sees what it did.
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

  // For implementors. While it lives, Current() returns `runner` on this thread, and `edge`
  // takes what tasks throw; null is standard error. Nests.
  class AsCurrent {
   public:
    explicit AsCurrent(Runner* runner, const ErrorEdge* edge = nullptr);
    ~AsCurrent();
    AsCurrent(const AsCurrent&) = delete;
    AsCurrent& operator=(const AsCurrent&) = delete;

   private:
    Runner* const runner_before_;
    const ErrorEdge* const edge_before_;
  };
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_RUNNER_H_
