// SplitDeque: the run queue of one worker, in two parts. The owner works at the bottom of the
// private part, where a push and a pop are plain loads and stores. Thieves take from the top of
// the shared part: the owner moves the split between the two to the bottom when it is asked to,
// and takes from the shared part, one by one, when it has nothing private.
//
//        top_          split_         bottom_
//         | shared       | private      |
//
// The other policy is WorkDeque, in which every task is shared.
//
// Thread safety
//   PushBottom(), PopBottom(), ShareIfAsked(), ShareAll()   the owning worker only.
//   StealTop(), HasTask(), the estimates                    any thread, at any time.
//   Destruction                            once no other thread can still call in.
//
// What a thief may conclude
//   kEmpty and a false HasTask() say that nothing is shared, not that the owner has nothing. The
//   owner has been asked, and shares at its next ShareIfAsked(). How soon that is, only the
//   owner's task knows: while that computes and does not look, what is private stays so. A thief
//   may go to sleep on kEmpty if the owner, each time it has shared, looks for sleepers. Nobody
//   may wait for a task that can be private, unless its owner has called ShareAll().
//
// Invariants
//   (1) `top_` never decreases. Only a successful compare-exchange moves it, by one, and
//       the winner owns the task at the index it passed.
//   (2) Only the owner writes `bottom_`, `split_` and `ring_`.
//   (3) What is shared stays so until somebody takes it.
//   (4) Rings as in WorkDeque: one load gives a thief a matching pair, none is freed early.
//   (5) A thief that found nothing shared leaves `asked_` set, unless the owner has shared since.
//
// Memory order
//   Publish    Share() stores `split_` and StealTop() loads it: a thief sees the task and its
//              slot. The store is seq_cst and not only release because the pool looks next for
//              parked workers (see idle_set.h), as after a push on a WorkDeque.
//   Last task  PopShared() lowers `split_`, then loads `top_`; StealTop() loads `top_`, then
//              `split_`. All four are seq_cst, and the reasons those of WorkDeque, where
//              `bottom_` is what `split_` is here.
//   Ask        Share() clears `asked_` before it stores `split_`; a thief sets it after it has
//              loaded `split_`. So a question that stands is never cleared with an answer that
//              the thief has already seen. The flag is relaxed: late, it is late by what a store
//              takes to arrive, and the owner cannot know of it sooner in any order.
//   Growth     as in WorkDeque.
//
// Source: van Dijk and van de Pol, MuCoCoS 2014 (Lace): the split, moved when a thief asks. Theirs
// moves by halves both ways, with top and split in one word; here the shared part is a deque after
// Chase and Lev, SPAA 2005. Owners that answer at their next look are in Acar et al., PPoPP 2013;
// Rito and Paulino, Journal of Scheduling 2022, bound what it saves.

#ifndef JACKDAW_SCHEDULER_POOL_SPLIT_DEQUE_H_
#define JACKDAW_SCHEDULER_POOL_SPLIT_DEQUE_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/deque_ring.h"
#include "scheduler/pool/steal.h"
#include "scheduler/pool/task.h"

namespace jackdaw {

// `Atomic` is std::atomic, or the model checker's stand-in for it.
template <template <typename> class Atomic>
class BasicSplitDeque {
 public:
  struct Options {
    std::int64_t initial_capacity = 256;    // Tasks; a power of two.
    std::int64_t max_capacity = 64 * 1024;  // Tasks; a power of two, not below the initial one.
    std::int64_t first_index = 0;           // For tests: where the indices start.
  };
  static constexpr bool kHasPrivatePart = true;

  BasicSplitDeque() : BasicSplitDeque(Options()) {}
  explicit BasicSplitDeque(Options options)
      : top_(options.first_index),
        split_(options.first_index),
        asked_(false),
        ring_(Ring::Make(options.initial_capacity, nullptr)),
        bottom_(options.first_index),
        top_cached_(options.first_index),
        max_capacity_(options.max_capacity) {}
  // Forgets the tasks that are still queued; they are not run or dropped.
  ~BasicSplitDeque() {
    Ring* ring = ring_.load(std::memory_order_relaxed);
    while (ring != nullptr) ring = Ring::FreeOne(ring);
  }
  BasicSplitDeque(const BasicSplitDeque&) = delete;
  BasicSplitDeque& operator=(const BasicSplitDeque&) = delete;

  // Adds `task`, which must not be null, at the bottom; it is private. False when `max_capacity`
  // tasks are queued: nothing happened. Owner only. Does not block; allocates when it grows.
  [[nodiscard]] bool PushBottom(Task* task) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (bottom - top_cached_ >= ring->capacity()) {
      ring = MakeRoom(ring, bottom);
      if (ring == nullptr) return false;
    }
    ring->Put(bottom, task);
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return true;
  }

  // Takes the task pushed last, or null if there is none. Owner only. Wait-free.
  [[nodiscard]] Task* PopBottom() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (bottom == split_.load(std::memory_order_relaxed)) return PopShared(bottom);
    return PopPrivate(bottom);
  }

  // Shares what is private if a thief has asked since the last time. True if something is shared
  // now: look for workers that sleep. Owner only. Wait-free.
  [[nodiscard]] bool ShareIfAsked() { return asked_.load(std::memory_order_relaxed) && Share(); }

  // The same, asked or not: before the owner waits, or goes where it does not look.
  [[nodiscard]] bool ShareAll() { return Share(); }

  // Whether a thief that came now would go without, but for thefts in motion. Owner only.
  [[nodiscard]] bool NothingIsShared() const {
    return top_.load(std::memory_order_relaxed) >= split_.load(std::memory_order_relaxed);
  }

  // Tries once to take the oldest shared task. Any thread. Wait-free: it does not retry, and
  // kLost is another thread's progress. On kEmpty it has asked the owner to share.
  [[nodiscard]] Steal StealTop() {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t split = split_.load(std::memory_order_seq_cst);
    if (top >= split) {
      Ask();
      return {Steal::Outcome::kEmpty, nullptr};
    }
    // The slot may already belong to a later task. Then `top_` has moved on, and the
    // compare-exchange fails.
    Task* task = ring_.load(std::memory_order_acquire)->Get(top);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed)) {
      return {Steal::Outcome::kLost, nullptr};
    }
    return {Steal::Outcome::kTaken, task};
  }

  // Whether a task is shared; asks the owner if not. Any thread. The loads are seq_cst: a worker
  // that announced that it will park and then sees false here is seen as parked by an owner that
  // shares later.
  [[nodiscard]] bool HasTask() const {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < split_.load(std::memory_order_seq_cst)) return true;
    Ask();
    return false;
  }

  // How many tasks are queued in both parts, give or take those in motion. For metrics and the
  // size of a batch, never for correctness. Any thread.
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

  // Not written when it is set already: the owner reads it at every turn.
  void Ask() const {
    if (!asked_.load(std::memory_order_relaxed)) asked_.store(true, std::memory_order_relaxed);
  }

  // Moves the split to the bottom. False, and a question stays, if there is nothing to share.
  // All and not half: a task that waits, or computes for long, answers once.
  bool Share() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (top_.load(std::memory_order_relaxed) >= bottom) return false;
    asked_.store(false, std::memory_order_relaxed);
    split_.store(bottom, std::memory_order_seq_cst);
    return true;
  }

  Task* PopPrivate(std::int64_t bottom) {
    bottom_.store(bottom - 1, std::memory_order_relaxed);
    return ring_.load(std::memory_order_relaxed)->Get(bottom - 1);
  }

  // The private part is empty. One at a time, as from a WorkDeque, and not half of what is shared:
  // whoever was woken to come for the rest must find it.
  Task* PopShared(std::int64_t bottom) {
    // Left before any store if it is empty too. A stale `top_` can only look smaller than it is.
    if (top_.load(std::memory_order_relaxed) >= bottom) return nullptr;
    split_.store(bottom - 1, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom - 1) return PopPrivate(bottom);
    Task* task = nullptr;
    if (top == bottom - 1) {
      task = ring_.load(std::memory_order_relaxed)->Get(top);
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
        task = nullptr;
      }
    }
    // Either way `top_` is now at the bottom, and stays above every task: a thief that pairs
    // this store with an older `top_` loses its compare-exchange. Hence relaxed.
    split_.store(bottom, std::memory_order_relaxed);
    return task;
  }

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

  // Thieves fight over this word; the owner reads it when it shares and takes back.
  alignas(kCacheLine) Atomic<std::int64_t> top_;
  // Read by everybody. The owner writes the first and the last, a thief that found nothing the
  // second: rarely, all of them.
  alignas(kCacheLine) Atomic<std::int64_t> split_;
  mutable Atomic<bool> asked_;
  Atomic<Ring*> ring_;
  // The owner writes these at every push and pop; nobody else reads them but for metrics.
  alignas(kCacheLine) Atomic<std::int64_t> bottom_;
  std::int64_t top_cached_;  // Owner only. A value that `top_` once had.
  const std::int64_t max_capacity_;
};

using SplitDeque = BasicSplitDeque<std::atomic>;

static_assert(alignof(SplitDeque) == kCacheLine && sizeof(SplitDeque) == 3 * kCacheLine,
              "top, split and bottom are each on a line of their own");

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_SPLIT_DEQUE_H_
