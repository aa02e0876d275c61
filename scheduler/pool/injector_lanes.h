// InjectorLanes: a pool's injector, once for each priority. High goes before normal, normal before
// low, and none for ever: a lane that has work and was passed over kPatience times is next, the
// lowest of those first. First in, first out within a lane.
//
// A pool that never sees a priority other than normal pays for it with one look at a flag.
//
// Thread safety: every method from any thread. Nothing blocks beyond a short lock.
//
// Invariants
//   (1) As injector.h says, for each lane.
//   (2) The flag is up before another lane than the normal one has a task.
//
// Memory order: the flag is stored and loaded seq_cst where the two-phase park of idle_set.h needs
// it: who sees it down in HasTask() has announced itself before the push that raised it looked for
// parked workers. How often a lane was passed over is relaxed: workers that take at the same time
// may miss each other's count, and one lane may wait for as many takes more.
//
// Limit: as injector.h says.

#ifndef JACKDAW_SCHEDULER_POOL_INJECTOR_LANES_H_
#define JACKDAW_SCHEDULER_POOL_INJECTOR_LANES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/base/priority.h"
#include "scheduler/pool/injector.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class InjectorLanes {
 public:
  static constexpr std::size_t kMaxBatch = Injector::kMaxBatch;
  static constexpr int kPatience = 16;  // Takes.

  // As of Injector, in the lane of `priority`.
  [[nodiscard]] bool Push(Task* task, Priority priority = Priority::kNormal) {
    if (priority != Priority::kNormal) Raise();
    return Lane(priority).Push(task);
  }
  void PushOverflow(absl::Span<Task* const> tasks, Priority priority = Priority::kNormal) {
    if (priority != Priority::kNormal) Raise();
    Lane(priority).PushOverflow(tasks);
  }

  // As of Injector, from the lane whose turn it is. Of low priority one at a time: what comes
  // meanwhile shall go before the rest.
  [[nodiscard]] std::size_t TakeBatch(absl::Span<Task*> out, int workers) {
    if (!IsRaised()) return Lane(Priority::kNormal).TakeBatch(out, workers);
    return TakeInTurn(out, workers);
  }

  // Takes `task`, of normal priority, out, wherever it stands. False if it is not here.
  [[nodiscard]] bool Remove(const Task* task) { return Lane(Priority::kNormal).Remove(task); }

  // Refuses further Push().
  void Close() {
    for (Injector& lane : lanes_) lane.Close();
  }

  // Whether a task is queued. seq_cst, see above.
  [[nodiscard]] bool HasTask() const;

  // How many tasks are queued, at about this moment.
  [[nodiscard]] std::int64_t SizeEstimate() const {
    const std::int64_t normal = Lane(Priority::kNormal).SizeEstimate();
    return IsRaised()
               ? normal + Lane(Priority::kHigh).SizeEstimate() + Lane(Priority::kLow).SizeEstimate()
               : normal;
  }
  // Whether one of high priority seems to be. Asked before each task.
  [[nodiscard]] bool HasUrgent() const {
    return IsRaised() && Lane(Priority::kHigh).SizeEstimate() != 0;
  }

  // How many tasks Push() ever accepted.
  [[nodiscard]] std::int64_t injected() const {
    std::int64_t sum = 0;
    for (const Injector& lane : lanes_) sum += lane.injected();
    return sum;
  }

 private:
  [[nodiscard]] std::size_t TakeInTurn(absl::Span<Task*> out, int workers);
  [[nodiscard]] std::size_t NextLane();
  [[nodiscard]] bool IsRaised() const { return raised_.load(std::memory_order_relaxed); }
  void Raise() {
    if (!IsRaised()) raised_.store(true, std::memory_order_seq_cst);
  }
  [[nodiscard]] Injector& Lane(Priority priority) {
    return lanes_[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] const Injector& Lane(Priority priority) const {
    return lanes_[static_cast<std::size_t>(priority)];
  }

  // Read before each task, written once.
  alignas(kCacheLine) std::atomic<bool> raised_{false};
  alignas(kCacheLine) std::array<std::atomic<int>, kPriorityCount> passed_over_{};
  std::array<Injector, kPriorityCount> lanes_;  // By the value of Priority.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_INJECTOR_LANES_H_
