#include "server/rpc/signal.h"

#include <utility>

namespace jackdaw {

void Signal::Raise(Reason reason, Resume resume) {
  std::coroutine_handle<> waiter;
  {
    absl::MutexLock lock(&mutex_);
    raised_ |= reason;
    if (waiter_ == nullptr || (raised_ & awaited_) == 0) return;
    waiter = std::exchange(waiter_, nullptr);
  }
  if (resume == Resume::kHere) {
    waiter.resume();
  } else {
    queue_.Post(waiter);
  }
}

bool Signal::Suspend(std::uint32_t reasons, std::coroutine_handle<> coroutine) {
  absl::MutexLock lock(&mutex_);
  if ((raised_ & reasons) != 0) return false;
  awaited_ = reasons;
  waiter_ = coroutine;
  return true;
}

std::uint32_t Signal::Take(std::uint32_t reasons) {
  absl::MutexLock lock(&mutex_);
  const std::uint32_t taken = raised_ & reasons;
  raised_ &= ~taken | kGone;
  return taken;
}

}  // namespace jackdaw
