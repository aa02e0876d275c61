// Signal: wakes the coroutine of a call when something happens outside gRPC: a job
// changed, a job is done, time has passed, the client is gone.
//
// Thread safety
//   Raise()  any thread, at any time.
//   Wait()   the call's coroutine only.
// A signal is shared: whoever may raise it keeps it alive, and one raised for a coroutine
// that is gone does nothing.
//
// Where the coroutine goes on is the raiser's choice. kHere resumes it inside Raise():
// nothing needs to wake up, which is worth tens of microseconds when a worker ends a job;
// it requires that the raiser holds no lock. kOnQueue hands it to the queue's thread.

#ifndef JACKDAW_SERVER_RPC_SIGNAL_H_
#define JACKDAW_SERVER_RPC_SIGNAL_H_

#include <coroutine>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/rpc/queue.h"

namespace jackdaw {

class Signal {
 public:
  enum class Resume { kHere, kOnQueue };
  // What may happen; combined with |.
  enum Reason : std::uint32_t { kGone = 1, kChanged = 2, kDone = 4, kTimer = 8 };

  explicit Signal(RpcQueue& queue) : queue_(queue) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Records `reason` and resumes the coroutine if it waits for it.
  void Raise(Reason reason, Resume resume);

  // `co_await wait` suspends until one of `reasons` was raised and yields those that were.
  // They are forgotten then, but for kGone, which stays.
  class Waiter {
   public:
    Waiter(Signal& signal, std::uint32_t reasons) : signal_(signal), reasons_(reasons) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine) {
      return signal_.Suspend(reasons_, coroutine);
    }
    std::uint32_t await_resume() { return signal_.Take(reasons_); }

   private:
    Signal& signal_;
    const std::uint32_t reasons_;
  };
  [[nodiscard]] Waiter Wait(std::uint32_t reasons) { return Waiter(*this, reasons); }

 private:
  bool Suspend(std::uint32_t reasons, std::coroutine_handle<> coroutine);
  std::uint32_t Take(std::uint32_t reasons);

  RpcQueue& queue_;
  absl::Mutex mutex_;
  std::uint32_t raised_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint32_t awaited_ ABSL_GUARDED_BY(mutex_) = 0;
  std::coroutine_handle<> waiter_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_SIGNAL_H_
