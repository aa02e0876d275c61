#include "scheduler/pool/main_runner.h"

namespace jackdaw {

absl::Status MainRunner::RunUntil(const Event& event) {
  for (;;) {
    const FifoQueue::Taken taken = queue_.TakeUnless(event.notified_);
    if (taken.task == nullptr) break;
    Do(taken);
  }
  return event.HasBeenNotified() ? absl::OkStatus() : ShutdownError();
}

bool MainRunner::RunOne() {
  const FifoQueue::Taken taken = queue_.TryTake();
  if (taken.task == nullptr) return false;
  Do(taken);
  return true;
}

std::int64_t MainRunner::RunUntilIdle() {
  std::int64_t ran = 0;
  while (RunOne()) ++ran;
  return ran;
}

bool MainRunner::Submit(Task* task) {
  const bool own = Current() == this;
  return queue_.Push(task, own ? FifoQueue::From::kOwnTask : FifoQueue::From::kOutside);
}

void MainRunner::ShutdownAndWait(ShutdownMode mode) {
  Shutdown(mode);
  RunUntilIdle();
}

void MainRunner::Do(FifoQueue::Taken taken) {
  const AsCurrent scope(this, &edge_);
  taken.task->Do(taken.verb);
  queue_.Finish();
}

}  // namespace jackdaw
