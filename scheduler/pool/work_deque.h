// WorkDeque: the run queue of one worker. The owner works at the bottom, newest first,
// while the data is still warm. Thieves take from the top, oldest first, where the most
// downstream work usually hangs.
//
// Thread safety
//   PushBottom(), PopBottom()            the owning worker only.
//   StealTop(), the estimates            any thread, at any time.
//   Destruction                          once no other thread can still call in.
//
// Invariants
//   (1) `top_` never decreases. Only a successful compare-exchange moves it, by one, and
//       the winner owns the task at the index it passed.
//   (2) Only the owner writes `bottom_` and `ring_`.
//   (3) A ring is never freed or rewritten under a thief that may still read it: an
//       outgrown one is kept until the deque dies. All that are kept are together smaller
//       than the current one, which is at most `max_capacity`.
//   (4) A ring owns its mask, so that one load of `ring_` gives a thief a matching pair.
//   (5) Indices are 64 bits wide and never wrap: at a task a nanosecond they last 292 years.
//
// Memory order
//   Publish    PushBottom() stores `bottom_` and StealTop() loads it: a thief sees the
//              task's contents and its slot. That store is seq_cst and not only release
//              because the pool looks next for parked workers (see idle_set.h): weaker, the
//              look could pass the store, and a worker about to park would miss the task
//              while the pusher misses the worker.
//   Last task  PopBottom() stores `bottom_`, then loads `top_`; StealTop() loads `top_`,
//              then `bottom_`. All four are seq_cst. Weaker, each side could miss the
//              other's write and both would run the same task. As it is, they meet at the
//              compare-exchange and one of them loses.
//   Growth     Grow() stores `ring_` with release, StealTop() loads it with acquire: a
//              thief never sees a ring before its contents.
//   No fences  ThreadSanitizer does not model them.
//
// Source: Chase and Lev, SPAA 2005; orderings after Le et al., PPoPP 2013, with the ring
// published as corrected by Norris and Demsky (CDSChecker, OOPSLA 2013).

#ifndef JACKDAW_SCHEDULER_POOL_WORK_DEQUE_H_
#define JACKDAW_SCHEDULER_POOL_WORK_DEQUE_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/deque_ring.h"
#include "scheduler/pool/steal.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

// `Atomic` is std::atomic, or the model checker's stand-in for it.
template <template <typename> class Atomic>
class BasicWorkDeque {
 public:
  struct Options {
    std::int64_t initial_capacity = 256;    // Tasks; a power of two.
    std::int64_t max_capacity = 64 * 1024;  // Tasks; a power of two, not below the initial one.
    std::int64_t first_index = 0;           // For tests: where the indices start.
  };
  // Thieves see a task as soon as it is pushed: nothing is left to share (split_deque.h differs).
  static constexpr bool kHasPrivatePart = false;
  [[nodiscard]] bool NothingIsShared() const { return false; }
  [[nodiscard]] bool ShareIfAsked() { return false; }
  [[nodiscard]] bool ShareAll() { return false; }

  BasicWorkDeque() : BasicWorkDeque(Options()) {}
  explicit BasicWorkDeque(Options options)
      : top_(options.first_index),
        bottom_(options.first_index),
        top_cached_(options.first_index),
        max_capacity_(options.max_capacity),
        ring_(Ring::Make(options.initial_capacity, nullptr)) {}
  // Forgets the tasks that are still queued; they are not run or dropped.
  ~BasicWorkDeque() {
    Ring* ring = ring_.load(std::memory_order_relaxed);
    while (ring != nullptr) ring = Ring::FreeOne(ring);
  }
  BasicWorkDeque(const BasicWorkDeque&) = delete;
  BasicWorkDeque& operator=(const BasicWorkDeque&) = delete;

  // Adds `task`, which must not be null, at the bottom. False when `max_capacity` tasks are
  // queued: nothing happened. Owner only. Does not block; allocates when it grows.
  [[nodiscard]] bool PushBottom(Task* task) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (bottom - top_cached_ >= ring->capacity()) {
      ring = MakeRoom(ring, bottom);
      if (ring == nullptr) return false;
    }
    ring->Put(bottom, task);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  // Takes the task pushed last, or null if there is none. Owner only. Wait-free.
  [[nodiscard]] Task* PopBottom() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // An empty deque is left before any store. A stale `top_` can only look smaller than it
    // is, so no task is missed.
    if (bottom < top_cached_) return nullptr;
    Ring* ring = ring_.load(std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom) return ring->Get(bottom);
    Task* task = nullptr;
    if (top == bottom) {
      task = ring->Get(bottom);
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
        task = nullptr;
      }
    }
    // Either way `top_` is now above every task, and stays so: a thief that pairs this
    // store with an older `top_` loses its compare-exchange. Hence relaxed.
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    top_cached_ = bottom + 1;
    return task;
  }

  // Tries once to take the oldest task. Any thread. Wait-free: it does not retry, and kLost
  // is another thread's progress.
  [[nodiscard]] Steal StealTop() {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    if (top >= bottom) return {Steal::Outcome::kEmpty, nullptr};
    // The slot may already belong to a later task. Then `top_` has moved on, and the
    // compare-exchange fails.
    Task* task = ring_.load(std::memory_order_acquire)->Get(top);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed)) {
      return {Steal::Outcome::kLost, nullptr};
    }
    return {Steal::Outcome::kTaken, task};
  }

  // Whether a task is queued. Any thread. The loads are seq_cst: a worker that announced
  // that it will park and then sees false here is seen as parked by the next pusher.
  [[nodiscard]] bool HasTask() const {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    return top < bottom_.load(std::memory_order_seq_cst);
  }

  // How many tasks are queued, give or take those in motion. For metrics and the size of a
  // batch, never for correctness. Any thread.
  [[nodiscard]] std::int64_t SizeEstimate() const {
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    const std::int64_t size = bottom_.load(std::memory_order_relaxed) - top;
    return size > 0 ? size : 0;
  }

  // Tasks that fit without growing. Any thread.
  [[nodiscard]] std::int64_t CapacityEstimate() const {
    return ring_.load(std::memory_order_acquire)->capacity();
  }

 private:
  using Ring = DequeRing<Atomic>;

  // A ring with room for the task at `bottom`, or null at the limit. Owner only.
  Ring* MakeRoom(Ring* ring, std::int64_t bottom) {
    top_cached_ = top_.load(std::memory_order_acquire);
    if (bottom - top_cached_ < ring->capacity()) return ring;
    if (ring->capacity() >= max_capacity_) return nullptr;
    Ring* grown = Ring::Make(ring->capacity() * 2, ring);
    for (std::int64_t i = top_cached_; i < bottom; ++i) grown->Put(i, ring->Get(i));
    ring_.store(grown, std::memory_order_release);
    return grown;
  }

  // Thieves fight over this word; the owner's pop reads it.
  alignas(kCacheLine) Atomic<std::int64_t> top_;
  // The owner writes these at every push and pop; thieves read the first.
  alignas(kCacheLine) Atomic<std::int64_t> bottom_;
  std::int64_t top_cached_;  // Owner only. A value that `top_` once had.
  const std::int64_t max_capacity_;
  // Read by everybody, written when the deque grows.
  alignas(kCacheLine) Atomic<Ring*> ring_;
};

using WorkDeque = BasicWorkDeque<std::atomic>;

static_assert(alignof(WorkDeque) == kCacheLine && sizeof(WorkDeque) == 3 * kCacheLine,
              "top, bottom and ring are each on a line of their own");

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORK_DEQUE_H_
