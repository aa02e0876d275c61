#include "scheduler/async/co_run.h"

#include <utility>

#include "scheduler/async/checked_lock.h"
#include "scheduler/async/fiber_node.h"
#include "scheduler/async/future_cell.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/scope_node.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {
namespace {

// Of the turn that this thread is driving.
thread_local constinit int ready_awaits_left = 0;

}  // namespace

void CoRun::Enter(CoFrame& frame, CoFrame& child) {
  child.run = this;
  child.parent = &frame;
  innermost_ = &child;
  driver_->next = child.self;
}

void CoRun::Leave(CoFrame& frame) {
  if (frame.parent == nullptr) {
    driver_->complete = this;
    return;
  }
  innermost_ = frame.parent;
  driver_->next = frame.parent->self;
}

void CoRun::GoOnWith(CoFrame& frame, CoRun& child) {
  driver_->forked = &child;
  innermost_ = &frame;
  Submit();
}

void CoRun::Requeue() {
  WorkerContext* worker = WorkerContext::Current();
  if (worker != nullptr && &worker->pool() == &runner_) {
    worker->PushBehind(this);
  } else {
    Submit();
  }
}

bool CoRun::SuspendOn(FutureCellBase& future, CoFrame& frame, std::uint64_t fiber_id) {
  if (context_.fiber == nullptr) return future.AddWaiter(SuspendAt(frame));
  if (!future.is_ready()) return context_.fiber->Suspend(*this, frame, future, fiber_id);
  SuspendAt(frame);
  Requeue();
  return true;
}

__attribute__((noinline)) bool CoRun::MayGoOn() {
  if (ready_awaits_left == 0) return false;
  --ready_awaits_left;
  return true;
}

async_internal::ScopeSection* CoRun::EnterSection(async_internal::ScopeSection& section) {
  return std::exchange(section_, &section);
}

void CoRun::Start() { Submit(); }

void CoRun::Submit() {
  if (runner_.Submit(this)) return;
  abandoned_for_ = RunnerGoneError(runner_.name());
  WakeAll(&refused_);
}

void CoRun::Refused::Abandon(Waiter* waiter) noexcept {
  static_cast<Refused*>(waiter)->run_.EndScopes();
}

void CoRun::OnReady(Waiter* waiter) noexcept { static_cast<CoRun*>(waiter)->Submit(); }

void CoRun::OnRunner(Task* task, Verb verb) noexcept {
  auto* run = static_cast<CoRun*>(task);
  if (verb == Verb::kDrop) {
    run->Abandon(DroppedError(run->runner_.name()));
  } else if (run->innermost_ == nullptr && run->cancel_requested()) {
    run->Abandon(CancelRequestedError());
  } else {
    Driver driver;
    run->Drive(driver);
    while (driver.forked != nullptr) {
      WorkerContext* worker = WorkerContext::Current();
      if (worker != nullptr) worker->CountInline(1);
      std::exchange(driver.forked, nullptr)->Drive(driver);
    }
  }
}

__attribute__((noinline)) void CoRun::Drive(Driver& driver) {
  driver_ = &driver;
  ready_awaits_left = kReadyAwaits;
  {
    const TaskContext::Installed installed(&context_);
    if (innermost_ == nullptr) {
      const absl::StatusOr<CoFrame*> frame = Begin();
      if (!frame.ok()) return Abandon(frame.status());
      innermost_ = *frame;
      innermost_->run = this;
    }
    driver.next = innermost_->self;
    const int locks_held = CheckedLock::HeldHere();
    while (driver.next != nullptr) {
      std::exchange(driver.next, nullptr).resume();
      CheckedLock::CheckNoneHeldSince(locks_held);
    }
  }
  // The run may belong to another thread by now, unless it is complete.
  if (driver.complete != nullptr) std::exchange(driver.complete, nullptr)->Complete();
}

void CoRun::Abandon(absl::Status reason) {
  abandoned_for_ = std::move(reason);
  EndScopes();
}

void CoRun::EndScopes() {
  while (section_ != nullptr) {
    // Comes back here by way of `refused_`.
    if (section_->Abandon(abandoned_for_, &refused_)) return;
  }
  {
    const TaskContext::Installed installed(&context_);
    while (innermost_ != nullptr) {
      const CoFrame frame = *innermost_;
      *frame.owner = nullptr;
      innermost_ = frame.parent;
      frame.self.destroy();
    }
  }
  // Whoever abandons may be inside the context of a run that has been handed on.
  const TaskContext::Installed none(nullptr);
  Fail(std::move(abandoned_for_));
}

}  // namespace jackdaw
