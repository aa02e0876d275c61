// Compensation: how many workers block in a BlockingRegion, and which extra workers stand in for
// them. Internal to scheduler/pool.
//
// An extra worker has a slot, numbered after the pool's own workers. A slot is staffed from
// Begin() to Retire(), and may be staffed again from Vacate() on, when its thread is done with it:
// at once and by the same thread, where one that blocks has waited for a slot meanwhile.
//
// Thread safety: any thread. Nothing blocks beyond a short lock.
//
// Invariant: as many are staffed as are blocked, as far as the cap and the system allow, but for
// surplus ones, which retire before their next task.

#ifndef JACKDAW_SCHEDULER_POOL_COMPENSATION_H_
#define JACKDAW_SCHEDULER_POOL_COMPENSATION_H_

#include <atomic>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace jackdaw {

class Compensation {
 public:
  static constexpr int kNoSlot = -1;

  Compensation(int first_slot, int cap) : first_slot_(first_slot), cap_(cap) {}

  // A worker blocks. The slot to staff, or kNoSlot: there is one too many already, or no slot.
  [[nodiscard]] int Begin() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ++blocked_;
    int slot = kNoSlot;
    if (staffed_ < blocked_ && !vacant_.empty()) {
      slot = vacant_.back();
      vacant_.pop_back();
    } else if (staffed_ < blocked_ && used_ < cap_) {
      slot = first_slot_ + used_++;
    }
    if (slot != kNoSlot) ++staffed_;
    Publish();
    return slot;
  }

  // It blocks no more. Whether an extra worker is one too many now.
  [[nodiscard]] bool End() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    --blocked_;
    Publish();
    return staffed_ > blocked_;
  }

  // An extra worker asks whether it is one too many. True: it must leave, and Vacate() last.
  [[nodiscard]] bool Retire() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!surplus()) return false;
    absl::MutexLock lock(&mutex_);
    if (staffed_ <= blocked_) return false;
    --staffed_;
    Publish();
    return true;
  }

  // The system refused a thread for what Begin() returned.
  void GiveUp(int slot) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    --staffed_;
    vacant_.push_back(slot);
    Publish();
  }

  // Nothing of the thread that retired from `slot` touches its worker any more. True: one is
  // missing, so the slot is staffed again and that thread stays.
  [[nodiscard]] bool Vacate(int slot) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (staffed_ < blocked_) {
      ++staffed_;
      return true;
    }
    vacant_.push_back(slot);
    return false;
  }

  // Whether Retire() would be true for somebody. seq_cst: an extra worker that announced that it
  // will park and then sees false is seen as parked by whoever ends a region.
  [[nodiscard]] bool surplus() const { return surplus_.load(std::memory_order_seq_cst); }

  [[nodiscard]] int blocked() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return blocked_;
  }
  [[nodiscard]] int staffed() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return staffed_;
  }

 private:
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    surplus_.store(staffed_ > blocked_, std::memory_order_seq_cst);
  }

  const int first_slot_;
  const int cap_;
  std::atomic<bool> surplus_{false};
  mutable absl::Mutex mutex_;
  int blocked_ ABSL_GUARDED_BY(mutex_) = 0;
  int staffed_ ABSL_GUARDED_BY(mutex_) = 0;
  int used_ ABSL_GUARDED_BY(mutex_) = 0;  // Slots that were ever staffed.
  std::vector<int> vacant_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_COMPENSATION_H_
