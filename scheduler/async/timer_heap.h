// TimerHeap: what a TimerQueue keeps under its lock. A heap of due times over slots that
// know their place in it, so that a cancelled timer leaves at once.
//
// Thread safety: none; the owner's lock.
//
// Invariants
//   (1) A live slot's `position` is the index of its entry in the heap.
//   (2) An id is a slot and its generation. A slot whose generations are used up is never
//       used again, so an id never means two timers.

#ifndef JACKDAW_SCHEDULER_ASYNC_TIMER_HEAP_H_
#define JACKDAW_SCHEDULER_ASYNC_TIMER_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace jackdaw {

class TimerHeap {
 public:
  using Callback = std::function<void()>;

  // Nanoseconds, by the owner's clock. kNever sorts last.
  static constexpr std::int64_t kNever = INT64_MAX;

  // Adds a timer and returns its id, which is not 0.
  std::uint64_t Add(std::int64_t due_ns, Callback callback);

  // Takes the timer `id` out and moves its callback to `callback`. False if it is not in.
  [[nodiscard]] bool Remove(std::uint64_t id, Callback& callback);

  // Takes out the first timer if it is due at `now_ns` and was added before the `limit`-th.
  [[nodiscard]] bool PopDue(std::int64_t now_ns, std::uint64_t limit, Callback& callback);

  // When the first timer is due; kNever if there is none.
  [[nodiscard]] std::int64_t NextDue() const { return heap_.empty() ? kNever : heap_[0].due_ns; }
  // How many timers were ever added.
  [[nodiscard]] std::uint64_t added() const { return added_; }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    std::int64_t due_ns;
    std::uint64_t sequence;  // Breaks ties: the order of Add().
    std::uint32_t slot;

    [[nodiscard]] bool Before(const Entry& other) const {
      return due_ns != other.due_ns ? due_ns < other.due_ns : sequence < other.sequence;
    }
  };
  struct Slot {
    std::uint32_t generation = 1;
    std::uint32_t position = kFree;
    Callback callback;
  };
  static constexpr std::uint32_t kFree = UINT32_MAX;
  // Four children to a node: half the levels of a binary heap, and siblings share a line.
  static constexpr std::size_t kArity = 4;

  std::uint32_t TakeSlot();
  Callback RemoveAt(std::size_t position);
  void Place(std::size_t position, const Entry& entry);
  void MoveUp(std::size_t position, const Entry& entry);
  void MoveDown(std::size_t position, const Entry& entry);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t added_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_TIMER_HEAP_H_
