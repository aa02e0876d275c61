// CountedTask: counts how often it was run and dropped. Owned by the test.

#ifndef JACKDAW_TESTS_SCHEDULER_POOL_COUNTED_TASK_H_
#define JACKDAW_TESTS_SCHEDULER_POOL_COUNTED_TASK_H_

#include <atomic>

#include "scheduler/pool/task.h"

namespace jackdaw {

class CountedTask final : public Task {
 public:
  CountedTask() : Task(&CountedTask::Call) {}
  [[nodiscard]] int runs() const { return runs_.load(); }
  [[nodiscard]] int drops() const { return drops_.load(); }

 private:
  static void Call(Task* task, Verb verb) noexcept {
    auto* self = static_cast<CountedTask*>(task);
    (verb == Verb::kRun ? self->runs_ : self->drops_).fetch_add(1);
  }
  std::atomic<int> runs_{0};
  std::atomic<int> drops_{0};
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_POOL_COUNTED_TASK_H_
