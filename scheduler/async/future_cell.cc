#include "scheduler/async/future_cell.h"

#include <cstdint>

#include "scheduler/pool/futex.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {
namespace {

// A thread that sleeps until the result is there. It lives on that thread's stack, and may
// be gone as soon as `woken_` is set: from then on only its address is used.
class BlockedThread final : public Waiter {
 public:
  BlockedThread() : Waiter(&BlockedThread::Unblock, Turn::kAtOnce) {}

  void Block() {
    while (woken_.load(std::memory_order_acquire) == 0) Futex::Wait(woken_, 0);
  }

 private:
  static void Unblock(Waiter* waiter) noexcept {
    std::atomic<std::uint32_t>& woken = static_cast<BlockedThread*>(waiter)->woken_;
    woken.store(1, std::memory_order_release);
    Futex::Wake(woken);
  }
  std::atomic<std::uint32_t> woken_{0};
};

}  // namespace

void FutureCellBase::BlockUntilReady() {
  WorkerContext* worker = WorkerContext::Current();
  if (worker != nullptr) worker->BeforeWait();
  BlockedThread self;
  if (AddWaiter(&self)) self.Block();
}

void FutureCellBase::OnCancel(CancelWaiter* waiter) {
  Waiter* too_late = nullptr;
  switch (AddCancelWaiter(waiter, too_late)) {
    case Added::kWaits:
      WakeTooLate(too_late);
      break;
    case Added::kRequested:
      WakeReady(waiter);
      break;
    case Added::kTooLate:
      waiter->next = nullptr;
      WakeTooLate(waiter);
      break;
  }
}

void FutureCellBase::PublishAndWake() {
  Waiter* waiters = Publish();
  WakeTooLate(CloseCancel());
  WakeAll(waiters);
}

void FutureCellBase::WakeTooLate(Waiter* first) {
  for (Waiter* waiter = first; waiter != nullptr; waiter = waiter->next) {
    static_cast<CancelWaiter*>(waiter)->too_late = true;
  }
  WakeAll(first);
}

}  // namespace jackdaw
