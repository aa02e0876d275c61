// Injector: the queue through which work from outside reaches a pool's workers, first in,
// first out. Other threads never touch a worker's deque; they come here.
//
// It has two ends, each with a lock of its own: those who push never wait for those who take.
// Tasks lie in a chain of blocks; the last block is the pushers', the first the takers'.
//
// Thread safety: every method from any thread. Nothing blocks beyond a short lock.
//
// Invariants
//   (1) After Close() returned, Push() refuses, and what it accepted before is in the queue
//       or was taken.
//   (2) Tasks `head_` to `tail_` - 1 are queued, but for those that Remove() took out: their
//       slots are null, and takers pass over them.
//   (3) Takers touch only slots below `tail_`. They go on to a block, and free the one before
//       it, only once a task in it is published; pushers never return to an earlier block.
//
// Memory order
//   Publish   A pusher writes the slot (and the link to its block), then stores `tail_`; a taker
//             loads `tail_` (acquire), then reads the slot. Pushers are ordered among each other
//             by their lock, takers by theirs.
//   Parking   That store, and the loads of HasTask(), are seq_cst for the two-phase park of
//             idle_set.h: who pushes and then looks for parked workers, and who announces and
//             then looks here, cannot miss each other. A task that is queued is above every
//             value that `head_` ever had, so an old one of those only errs towards true.
//   Spare     A block changes hands by acquire-release exchanges of `spare_`.
//
// Limit: none of its own; whoever accepts work from clients limits it (see the admission
// limits of the server). Blocks are freed as they run empty, but for one.

#ifndef JACKDAW_SCHEDULER_POOL_INJECTOR_H_
#define JACKDAW_SCHEDULER_POOL_INJECTOR_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "scheduler/base/cache_line.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

class Injector {
 public:
  static constexpr std::size_t kMaxBatch = 32;  // Tasks that one TakeBatch() may give.

  Injector();
  // Forgets the tasks that are still queued.
  ~Injector();
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;

  // Appends `task`, which must not be null. False once the injector is closed: the task
  // stays the caller's.
  [[nodiscard]] bool Push(Task* task) ABSL_LOCKS_EXCLUDED(push_mutex_);

  // Appends what a worker's full deque hands back. Closed or not: the pool has accepted
  // these tasks already, so they do not count as injected either.
  void PushOverflow(absl::Span<Task* const> tasks) ABSL_LOCKS_EXCLUDED(push_mutex_);

  // Moves the oldest tasks to the front of `out` and returns how many: a fair share for one
  // of `workers`, which is size / workers + 1, at most kMaxBatch and at most fit.
  [[nodiscard]] std::size_t TakeBatch(absl::Span<Task*> out, int workers)
      ABSL_LOCKS_EXCLUDED(take_mutex_);

  // Takes `task` out, wherever it stands. False if it is not here. Looks at one after the
  // other.
  [[nodiscard]] bool Remove(const Task* task) ABSL_LOCKS_EXCLUDED(take_mutex_);

  // Refuses further Push().
  void Close() ABSL_LOCKS_EXCLUDED(push_mutex_);

  // Whether a task is queued. seq_cst, see above.
  [[nodiscard]] bool HasTask() const {
    const std::int64_t head = head_.load(std::memory_order_seq_cst);
    return head < tail_.load(std::memory_order_seq_cst);
  }

  // How many tasks are queued, at about this moment.
  [[nodiscard]] std::int64_t SizeEstimate() const {
    const std::int64_t head = head_.load(std::memory_order_relaxed);
    return std::max<std::int64_t>(0, tail_.load(std::memory_order_relaxed) - head);
  }

  // How many tasks Push() ever accepted.
  [[nodiscard]] std::int64_t injected() const { return injected_.load(std::memory_order_relaxed); }

 private:
  struct Block {
    static constexpr std::size_t kSlots = 255;  // With the link 2 KiB.
    std::array<Task*, kSlots> slots;
    Block* next;
  };
  // A slot of a block. At kSlots: the first one of the next block.
  struct Place {
    Block* block;
    std::size_t slot;
  };

  void Append(Task* task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(push_mutex_);
  [[nodiscard]] Block* TakeSpare();
  void KeepOrFree(Block* block);

  // An empty block on its way from the takers back to the pushers.
  alignas(kCacheLine) std::atomic<Block*> spare_{nullptr};
  // The pushers' line. Takers read `tail_` once a batch.
  alignas(kCacheLine) std::atomic<std::int64_t> tail_{0};
  std::atomic<std::int64_t> injected_{0};  // Counted before the task can be taken.
  absl::Mutex push_mutex_;
  Place back_ ABSL_GUARDED_BY(push_mutex_);
  bool closed_ ABSL_GUARDED_BY(push_mutex_) = false;
  // The takers' line.
  alignas(kCacheLine) std::atomic<std::int64_t> head_{0};
  absl::Mutex take_mutex_;
  Place front_ ABSL_GUARDED_BY(take_mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_INJECTOR_H_
