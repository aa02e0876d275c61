// CoRun: one spawned coroutine on its way through a runner, from Spawn() to the result. It
// is the task that the runner sees and the waiter that futures see; all coroutines that the
// spawned one awaits, and those that they await, share it.
//
// How it resumes
//   Drive() is a loop: it resumes a coroutine, which returns when it suspends, and goes on
//   with the one that it was told to resume next, if any. So awaiting a child, finishing,
//   awaiting what is ready, and forking a child that runs first cost no stack, however often,
//   also at -O0, where the compiler turns no call into a jump. A future that resolves submits the
//   run to its runner; it never resumes a coroutine inside the completer.
//
// Invariants
//   (1) At any time a run is driven by one thread, or is in its runner's hands, or is in the
//       waiter list of one future, or, a fiber's, in one armed InterruptibleWait. Once it has been
//       handed on, the thread that drove it touches neither the run nor the coroutine.
//   (2) A run that can go on no longer (the runner refused or dropped it) is abandoned: its
//       scopes are cancelled, and once all in them has ended its coroutines are destroyed where
//       they are suspended, innermost first, and its future resolves to the reason. No coroutine
//       is ever resumed off its runner.
//
// Thread safety: as (1) says. For awaiters: what follows the hand-over in await_suspend()
// must not use `this`.

#ifndef JACKDAW_SCHEDULER_ASYNC_CO_RUN_H_
#define JACKDAW_SCHEDULER_ASYNC_CO_RUN_H_

#include <coroutine>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/task_context.h"
#include "scheduler/async/waiter.h"
#include "scheduler/pool/runner.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class CoRun;
class FutureCellBase;
namespace async_internal {
class ScopeSection;
}  // namespace async_internal

// The part of a coroutine's promise that does not depend on its type.
struct CoFrame {
  CoRun* run = nullptr;       // Set before the coroutine is first resumed.
  CoFrame* parent = nullptr;  // Who awaits it; null for the spawned one.
  std::coroutine_handle<> self;
  // Where the owner keeps `self`, to be emptied when the frame is destroyed under it.
  std::coroutine_handle<>* owner = nullptr;
};

class CoRun : public Task, public Waiter {
 public:
  // Awaits of what is ready that a fiber may do in one turn on its runner.
  static constexpr int kReadyAwaits = 256;

  // For awaiters that suspend `frame`, the one that is running now.

  // The driving loop goes on with `child`, which `frame` awaits.
  void Enter(CoFrame& frame, CoFrame& child);
  // Work first: hands this run, suspended at `frame`, to its runner as a task that any worker
  // may take, and the driving loop goes on with `child`, a run that has not begun. The run may
  // be gone when this returns.
  void GoOnWith(CoFrame& frame, CoRun& child);
  // Prepares to be resumed at `frame`, by way of the runner. The run may then be handed to a
  // future as a waiter, or to Requeue().
  Waiter* SuspendAt(CoFrame& frame) {
    innermost_ = &frame;
    return this;
  }
  // Hands the run to its runner again, behind what waits there already.
  void Requeue();
  // Suspends at `frame` until `future` is ready; of a fiber, or until it is cancelled. False: go
  // on at once. After true the run may be on another thread, or gone. `fiber_id` is that of the
  // fiber behind `future`, or 0.
  bool SuspendOn(FutureCellBase& future, CoFrame& frame, std::uint64_t fiber_id = 0);
  // Whether the running coroutine may go on at once with what is ready. False after kReadyAwaits
  // of them in one turn: SuspendOn() then lets others go first, if this is a fiber.
  [[nodiscard]] static bool MayGoOn();
  // Hands a suspended run that no future holds to its runner. The run may be gone after it.
  void Resume() { Submit(); }
  // `frame` has its result: the loop goes on with its parent, or the run is complete.
  void Leave(CoFrame& frame);

  [[nodiscard]] Runner& runner() const { return runner_; }
  // Its local values and its fiber. Only for the thread that drives.
  [[nodiscard]] TaskContext& context() { return context_; }
  [[nodiscard]] const TaskContext& context() const { return context_; }
  // For scopes, which a run is in one inside the other: `section` is the innermost one from here
  // on. Returns the one before, for LeaveSection(), or null.
  [[nodiscard]] async_internal::ScopeSection* EnterSection(async_internal::ScopeSection& section);
  void LeaveSection(async_internal::ScopeSection* outer) { section_ = outer; }
  // Whether the future of the run was asked to be cancelled.
  [[nodiscard]] virtual bool cancel_requested() const = 0;

 protected:
  explicit CoRun(Runner& runner)
      : Task(&CoRun::OnRunner), Waiter(&CoRun::OnReady, Turn::kAtOnce), runner_(runner) {}
  virtual ~CoRun() = default;

  // Hands a new run to its runner. The run may be gone when this returns.
  void Start();

  // Makes the coroutine and returns its frame, or why there is none. Called on the runner.
  virtual absl::StatusOr<CoFrame*> Begin() = 0;
  // The spawned coroutine has ended: resolve the future to its result and delete the run.
  virtual void Complete() = 0;
  // The same for a run that was abandoned. All its frames have been destroyed.
  virtual void Fail(absl::Status reason) = 0;

 private:
  // What the driving loop does next. On its stack: the run may be elsewhere by then.
  struct Driver {
    std::coroutine_handle<> next;
    CoRun* complete = nullptr;
    CoRun* forked = nullptr;
  };
  // A refused run waits for its turn to be abandoned, or a chain of them would recurse.
  class Refused final : public Waiter {
   public:
    explicit Refused(CoRun& run) : Waiter(&Refused::Abandon, Turn::kInTurn), run_(run) {}

   private:
    static void Abandon(Waiter* waiter) noexcept;
    CoRun& run_;
  };

  static void OnRunner(Task* task, Verb verb) noexcept;
  static void OnReady(Waiter* waiter) noexcept;
  // Not inlined: the compiler would take `driver_`, which nobody uses once `driver` is gone,
  // for a mistake.
  void Drive(Driver& driver);
  void Submit();
  void Abandon(absl::Status reason);
  // Ends the scopes, which may take its time, and then the rest.
  void EndScopes();

  Runner& runner_;
  TaskContext context_ = TaskContext::Inherit();
  Refused refused_{*this};
  absl::Status abandoned_for_;  // Not OK: nothing is resumed any more.
  async_internal::ScopeSection* section_ = nullptr;
  Driver* driver_ = nullptr;      // Of the thread that drives.
  CoFrame* innermost_ = nullptr;  // The frame that runs or is suspended; null before Begin().
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_CO_RUN_H_
