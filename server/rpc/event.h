// Event: what a completion queue hands back when an operation of gRPC is over. Its address
// is the operation's tag.

#ifndef JACKDAW_SERVER_RPC_EVENT_H_
#define JACKDAW_SERVER_RPC_EVENT_H_

#include <coroutine>
#include <utility>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace jackdaw {

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Calls `start` with the tag of the operation that it is to start. What was done before
  // can be seen once the operation is over. gRPC gives that order, and ThreadSanitizer,
  // which cannot see into it, is told; it then looks away until gRPC has the operation.
  template <typename Start>
  void StartWith(const Start& start) {
    void* const tag = this;
#if defined(__SANITIZE_THREAD__)
    __tsan_release(tag);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    start(tag);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#else
    start(tag);
#endif
  }

  // For the queue: the event of a tag that came back.
  [[nodiscard]] static Event* Of(void* tag) {
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(tag);
#endif
    return static_cast<Event*>(tag);
  }

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
    StartWith(start_);
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
