// Rpc: the coroutine that answers one call. It starts when it is told to, owns itself from
// then on, and is gone when it has run to its end.

#ifndef JACKDAW_SERVER_RPC_RPC_H_
#define JACKDAW_SERVER_RPC_RPC_H_

#include <coroutine>
#include <exception>
#include <utility>

namespace jackdaw {

class [[nodiscard]] Rpc {
 public:
  struct promise_type {
    Rpc get_return_object() {
      return Rpc(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    // Nothing of ours throws, and users' functions are caught where they are called.
    void unhandled_exception() noexcept { std::terminate(); }
  };

  Rpc(Rpc&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Rpc& operator=(Rpc&&) = delete;
  ~Rpc() {
    if (handle_ != nullptr) handle_.destroy();
  }

  // Runs it up to its first wait.
  void Start() && { std::exchange(handle_, nullptr).resume(); }

 private:
  explicit Rpc(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_RPC_H_
