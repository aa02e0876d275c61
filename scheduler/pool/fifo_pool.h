// FifoPool: the runner for latency and for calls that block. Its threads share one queue and
// run its tasks strictly in the order in which they were submitted, so none waits for a later
// one; choose more threads than CPUs where tasks block.
//
//   FifoPool io({.name = "io", .threads = 16});
//   status = io.Run([] { fsync(fd); });
//
// Thread safety: every method from any thread, at any time between the constructor's return
// and the destructor's start.

#ifndef JACKDAW_SCHEDULER_POOL_FIFO_POOL_H_
#define JACKDAW_SCHEDULER_POOL_FIFO_POOL_H_

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/pool/error_edge.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

class FifoPool : public Runner {
 public:
  struct Options {
    std::string name = "fifo";  // Threads are called `<name>.worker.<index>`.
    int threads = -1;           // 1 to kMaxThreads; -1: EffectiveCpuCount().
    // Called on each thread, before its first task and after its last. What they throw goes to
    // `on_error`. Signals are blocked on these threads but for those that a fault raises.
    std::function<void(int worker)> on_thread_start = nullptr;
    std::function<void(int worker)> on_thread_exit = nullptr;
    ErrorEdge::Hook on_error = nullptr;  // See error_edge.h.
    // For tests, to refuse threads: how one is made. As pthread_create() without attributes.
    std::function<int(pthread_t* thread, void* (*body)(void*), void* argument)> create_thread =
        nullptr;
  };
  static constexpr int kMaxThreads = 1024;

  // Starts the threads. When the system refuses one, runs with those there are; when it refuses
  // the first one, ends the process with a message, as when memory runs out.
  explicit FifoPool(Options options);
  // The same, but RESOURCE_EXHAUSTED when the system refuses the first thread.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<FifoPool>> Create(Options options);
  // Drains: ShutdownAndWait(ShutdownMode::kDrain).
  ~FifoPool() override;

  [[nodiscard]] bool Submit(Task* task) override;
  [[nodiscard]] absl::string_view name() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::int64_t task_count() const override;
  void Shutdown(ShutdownMode mode) override;
  void ShutdownAndWait(ShutdownMode mode) override;

 private:
  class Impl;
  struct Adopt {};
  FifoPool(Adopt, std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_FIFO_POOL_H_
