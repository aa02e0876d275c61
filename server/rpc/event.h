// Event: what a completion queue hands back when an operation of gRPC is over. Its address
// is the operation's tag.

#ifndef JACKDAW_SERVER_RPC_EVENT_H_
#define JACKDAW_SERVER_RPC_EVENT_H_

#include <coroutine>
#include <utility>

namespace jackdaw {

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Called once per operation, on the thread of the queue. `ok` is gRPC's: false when the
  // call is over or the queue ends. The event may delete itself.
  virtual void Complete(bool ok) = 0;

 protected:
  ~Event() = default;
};

// An operation that a coroutine waits for: `co_await operation` starts it and yields `ok`.
// It must be a named local, for g++ 12 destroys a temporary in a co_await twice.
//
// The coroutine is resumed on the queue's thread, perhaps before Start returned on the
// thread that started it; nothing here touches the frame after that.
template <typename Start>
class Operation final : public Event {
 public:
  explicit Operation(Start start) : start_(std::move(start)) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    start_(static_cast<void*>(static_cast<Event*>(this)));
  }
  bool await_resume() const noexcept { return ok_; }

  void Complete(bool ok) override {
    ok_ = ok;
    waiter_.resume();
  }

 private:
  Start start_;
  std::coroutine_handle<> waiter_;
  bool ok_ = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_EVENT_H_
