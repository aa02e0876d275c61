// MainRunner: a runner without threads. Whoever calls RunUntil() runs its tasks, oldest first,
// until something has happened; in between, the caller sleeps. For main(), for a thread that a
// library insists on, and for tests.
//
//   MainRunner main;
//   MainRunner::Event done(main);
//   status = compute.Run([&] {
//     ...                                       // On the pool.
//     main.Run([&] { Show(result); }).IgnoreError();  // Back on this thread.
//     done.Notify();
//   });
//   status = main.RunUntil(done);
//
// The event is all it knows of what is waited for: a future's callback may notify it as well.
//
// Thread safety: every method from any thread, but RunUntil(), RunOne(), RunUntilIdle() and
// ShutdownAndWait() by one thread at a time; a task may call them in turn.

#ifndef JACKDAW_SCHEDULER_POOL_MAIN_RUNNER_H_
#define JACKDAW_SCHEDULER_POOL_MAIN_RUNNER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "scheduler/pool/error_edge.h"
#include "scheduler/pool/fifo_queue.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

class MainRunner final : public Runner {
 public:
  struct Options {
    std::string name = "main";
    ErrorEdge::Hook on_error = nullptr;  // See error_edge.h.
  };

  // Something that happens once. May die as soon as RunUntil() or HasBeenNotified() said that
  // it has happened; the runner outlives Notify().
  class Event {
   public:
    explicit Event(MainRunner& runner) : queue_(runner.queue_) {}
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    // Any thread, once.
    void Notify() { queue_.Set(notified_); }
    [[nodiscard]] bool HasBeenNotified() const { return queue_.IsSet(notified_); }

   private:
    friend class MainRunner;
    FifoQueue& queue_;
    bool notified_ = false;  // Guarded by the queue's lock.
  };

  MainRunner() : MainRunner(Options()) {}
  explicit MainRunner(Options options)
      : name_(std::move(options.name)), edge_(name_, std::move(options.on_error)) {}
  // Drains: ShutdownAndWait(ShutdownMode::kDrain).
  ~MainRunner() override { ShutdownAndWait(ShutdownMode::kDrain); }

  // Runs tasks, and sleeps where there is none, until `event` has been notified. UNAVAILABLE
  // when the runner was shut down, and nothing is left to run, before that.
  [[nodiscard]] absl::Status RunUntil(const Event& event);
  // Runs one task; false if there was none.
  bool RunOne();
  // Runs until nothing is left. Returns how many tasks ran.
  std::int64_t RunUntilIdle();

  [[nodiscard]] bool Submit(Task* task) override;
  [[nodiscard]] absl::string_view name() const override { return name_; }
  [[nodiscard]] int size() const override { return 0; }
  [[nodiscard]] std::int64_t task_count() const override { return queue_.count(); }
  void Shutdown(ShutdownMode mode) override { queue_.Close(mode); }
  // Runs or drops what is left, on the caller.
  void ShutdownAndWait(ShutdownMode mode) override;

 private:
  void Do(FifoQueue::Taken taken);

  const std::string name_;
  const ErrorEdge edge_;
  FifoQueue queue_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_MAIN_RUNNER_H_
