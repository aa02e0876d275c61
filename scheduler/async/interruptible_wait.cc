#include "scheduler/async/interruptible_wait.h"

namespace jackdaw {

void InterruptibleWait::End() {
  if (state_.exchange(State::kEnded, std::memory_order_acq_rel) == State::kArmed) run_.Resume();
}

void InterruptibleWait::OnReady(Waiter* waiter) noexcept {
  auto* self = static_cast<InterruptibleWait*>(waiter);
  CoRun& run = self->run_;
  const State before = self->state_.exchange(State::kEnded, std::memory_order_acq_rel);
  // Let go first: the resumed fiber then finds itself the sole holder.
  self->Drop();
  if (before == State::kArmed) run.Resume();
}

}  // namespace jackdaw
