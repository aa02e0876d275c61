// ManualRunner: a runner that runs a task only when the test says so, in the order of
// submission. It shows that code needs nothing but the Runner interface.
//
// Thread safety: Submit() from any thread; the rest by the test's thread.

#ifndef JACKDAW_TESTS_SUPPORT_MANUAL_RUNNER_H_
#define JACKDAW_TESTS_SUPPORT_MANUAL_RUNNER_H_

#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {

class ManualRunner final : public Runner {
 public:
  // Drops what is left.
  ~ManualRunner() override { ShutdownAndWait(ShutdownMode::kCancel); }

  [[nodiscard]] bool Submit(Task* task) override {
    absl::MutexLock lock(&mutex_);
    if (closed_) return false;
    tasks_.push_back(task);
    return true;
  }

  // Runs the oldest task; false if there was none.
  bool RunOne() {
    Task* task = TakeFirst();
    if (task == nullptr) return false;
    const AsCurrent scope(this);
    task->Run();
    return true;
  }
  int RunAll() {
    int ran = 0;
    while (RunOne()) ++ran;
    return ran;
  }

  [[nodiscard]] absl::string_view name() const override { return "manual"; }
  [[nodiscard]] int size() const override { return 0; }
  [[nodiscard]] std::int64_t task_count() const override {
    absl::MutexLock lock(&mutex_);
    return static_cast<std::int64_t>(tasks_.size());
  }
  void Shutdown(ShutdownMode mode) override { ShutdownAndWait(mode); }
  void ShutdownAndWait(ShutdownMode mode) override {
    if (mode == ShutdownMode::kDrain) RunAll();
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
    }
    while (Task* task = TakeFirst()) task->Drop();
  }

 private:
  Task* TakeFirst() {
    absl::MutexLock lock(&mutex_);
    if (tasks_.empty()) return nullptr;
    Task* task = tasks_.front();
    tasks_.pop_front();
    return task;
  }

  mutable absl::Mutex mutex_;
  std::deque<Task*> tasks_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_MANUAL_RUNNER_H_
