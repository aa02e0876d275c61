// InterruptGuard: tells of Ctrl-C (SIGINT) and SIGTERM instead of ending the program.
//
// Make it before the threads that must not receive these signals, and on the thread that
// starts them. One at a time in a program. What it calls runs on a thread of its own.

#ifndef JACKDAW_CLIENT_CLI_INTERRUPT_H_
#define JACKDAW_CLIENT_CLI_INTERRUPT_H_

#include <signal.h>

#include <functional>
#include <thread>

namespace jackdaw::cli {

class InterruptGuard {
 public:
  // `on_signal` is called with 1 for the first signal, 2 for the second, ...
  explicit InterruptGuard(std::function<void(int count)> on_signal);
  // Waits for a call under way.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void Watch();

  const std::function<void(int)> on_signal_;
  sigset_t before_{};
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_INTERRUPT_H_
