// DequeRing: the slots of a deque and their mask in one allocation, and the ring that this one
// outgrew. A thief that has loaded the one pointer has a matching pair.
//
// Thread safety
//   Get()                   any thread.
//   Put(), Make()           the deque's owner.
//   FreeOne()               once no other thread can still read the ring.
//
// Memory order: slots are relaxed. The deque publishes them, by the index that it stores after
// Put(), and the ring itself, by the pointer that it stores after Make().

#ifndef JACKDAW_SCHEDULER_POOL_DEQUE_RING_H_
#define JACKDAW_SCHEDULER_POOL_DEQUE_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "scheduler/pool/task.h"

namespace jackdaw {

// `Atomic` is std::atomic, or the model checker's stand-in for it.
template <template <typename> class Atomic>
class DequeRing {
 public:
  // `capacity` is a power of two; `outgrown` may be null.
  static DequeRing* Make(std::int64_t capacity, DequeRing* outgrown) {
    const auto slots = static_cast<std::size_t>(capacity);
    void* memory = ::operator new(sizeof(DequeRing) + slots * sizeof(Slot));
    auto* ring = new (memory) DequeRing(capacity - 1, outgrown);
    for (std::size_t i = 0; i < slots; ++i) new (ring->slots() + i) Slot();
    return ring;
  }
  // Returns the ring that the freed one had outgrown, or null.
  static DequeRing* FreeOne(DequeRing* ring) {
    DequeRing* outgrown = ring->outgrown_;
    for (std::int64_t i = 0; i <= ring->mask_; ++i) ring->slots()[i].~Slot();
    ring->~DequeRing();
    ::operator delete(ring);
    return outgrown;
  }

  [[nodiscard]] std::int64_t capacity() const { return mask_ + 1; }
  [[nodiscard]] Task* Get(std::int64_t index) {
    return slots()[index & mask_].load(std::memory_order_relaxed);
  }
  void Put(std::int64_t index, Task* task) {
    slots()[index & mask_].store(task, std::memory_order_relaxed);
  }

 private:
  using Slot = Atomic<Task*>;
  DequeRing(std::int64_t mask, DequeRing* outgrown) : mask_(mask), outgrown_(outgrown) {}
  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }

  const std::int64_t mask_;
  DequeRing* const outgrown_;
  static_assert(alignof(Slot) <= alignof(std::int64_t), "the slots follow the header directly");
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_DEQUE_RING_H_
