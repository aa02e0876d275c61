// IdleSet: which workers search for work, which are parked, and who is woken when.
//
// The bargain: a worker is woken only when somebody has made work visible, nobody is
// searching, and somebody is parked. Whoever ends its search by finding work, and was the
// last to search, wakes the next one if there is more. So wake-ups come one at a time, and
// a searcher stands for all work that was made visible while it searched.
//
// Thread safety: each method says who may call it. Nothing blocks but Park().
//
// Invariants
//   (1) Visible work means that some worker runs, searches, or is about to be woken.
//   (2) A worker is counted in at most one of searching and parked.
//   (3) Each time a worker is taken off the parked list by another thread it gets exactly
//       one token, and takes it before it leaves Park(). It is then counted as searching.
//
// Memory order
//   Two-phase park   Park() first announces (a seq_cst change of `word_`), then looks at every
//                    place where work can be, then sleeps. Whoever makes work visible does so
//                    seq_cst, then loads `word_` seq_cst in NotifyWork(). In the single order
//                    of these four, either the look sees the work or the load sees the
//                    announcement. Weaker, or in the other order, both could miss.
//   Last searcher    StopSearching() and Park() leave the searchers by a seq_cst change of
//                    `word_` and look for work after it: work whose maker saw a searcher, and
//                    so woke nobody, is seen by the last of them.
//
// Source: the Go scheduler's spinning threads (proc.go) and Tokio's idle.rs.

#ifndef JACKDAW_SCHEDULER_POOL_IDLE_SET_H_
#define JACKDAW_SCHEDULER_POOL_IDLE_SET_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/parker.h"

namespace jackdaw {

template <template <typename> class Atomic, typename Mutex, typename Sleep>
class BasicIdleSet {
 public:
  // `extra`: how many more may come with AddWorker().
  explicit BasicIdleSet(int workers, int extra = 0)
      : search_limit_(Size(std::max(1, workers / 2))),
        parkers_(std::make_unique<BasicParker<Atomic, Sleep>[]>(Size(workers + extra))),
        workers_(workers) {
    parked_.reserve(Size(workers + extra));
  }

  // One worker more, whose index is unused and below `workers` + `extra`. Called by a worker that
  // runs a task, before the new one begins.
  void AddWorker() {
    std::lock_guard<Mutex> lock(mutex_);
    ++workers_;
    ++departures_;
  }

  // One worker less: the calling one, neither searching nor parked. True: all others are parked.
  [[nodiscard]] bool RemoveWorker() {
    std::lock_guard<Mutex> lock(mutex_);
    --workers_;
    return AllParked();
  }

  // What a worker learned when it announced that it will park.
  struct Announced {
    bool all_parked;           // It was the last of all.
    std::uint64_t departures;  // How often somebody had left the list by then.
  };
  // Whether all were parked when that was announced and all have stayed so until now: nobody ran
  // in between. Inside of `may_not_sleep`.
  [[nodiscard]] bool AllStayedParked(const Announced& announced) {
    std::lock_guard<Mutex> lock(mutex_);
    return announced.all_parked && announced.departures == departures_;
  }

  // How a Park() ended. Either way the worker is now counted as searching.
  enum class Parked {
    kWoken,     // By another thread.
    kWithdrew,  // Without sleeping: `may_not_sleep` said so.
  };

  // Counts the calling worker as searching, unless half of the workers already do. True:
  // StopSearching() or Park() must follow. Any worker that is not counted yet. (Those who
  // withdraw from parking are not held to the half; they have seen work.)
  [[nodiscard]] bool TryStartSearching() {
    if (Searching(word_.load(std::memory_order_relaxed)) >= search_limit_) return false;
    // Two workers may pass the limit together. It saves time; nothing depends on it.
    word_.fetch_add(kOneSearching, std::memory_order_seq_cst);
    return true;
  }

  // The calling worker, counted as searching, found work. `more_work` is asked only of the
  // last searcher: whether it sees still more, by seq_cst loads.
  template <typename MoreWork>
  void StopSearching(MoreWork&& more_work) {
    const std::uint64_t before = word_.fetch_sub(kOneSearching, std::memory_order_seq_cst);
    if (Searching(before) == 1 && more_work()) NotifyWork();
  }

  // Any thread, after it made work visible with a seq_cst store: wakes a worker if one
  // should come.
  void NotifyWork() {
    if (WakeIsDue(word_.load(std::memory_order_seq_cst))) WakeOne();
  }

  // Parks `worker`, which calls. `searching`: whether it is counted as such. After the
  // announcement `may_not_sleep(announced)` looks at every place where work can be and for
  // every reason to stay up, by seq_cst loads.
  template <typename MayNotSleep>
  [[nodiscard]] Parked Park(int worker, bool searching, MayNotSleep&& may_not_sleep) {
    const Announced announced = Announce(worker, searching);
    if (may_not_sleep(announced) && Withdraw(worker)) return Parked::kWithdrew;
    parkers_[Size(worker)].Park();
    return Parked::kWoken;
  }

  // Wakes `worker` as a searcher if it is parked, whoever else searches. Whether it was. Any
  // thread, as NotifyWork().
  bool WakeWorker(int worker) {
    if (ParkedCount(word_.load(std::memory_order_seq_cst)) == 0 || !Withdraw(worker)) return false;
    parkers_[Size(worker)].Unpark();
    return true;
  }

  // Wakes everybody who is parked. Any thread.
  void WakeAll() {
    std::vector<int> sleepers;
    {
      std::lock_guard<Mutex> lock(mutex_);
      sleepers.swap(parked_);
      ++departures_;
      parked_.reserve(Size(workers_));
      word_.fetch_add(sleepers.size() * (kOneSearching - kOneParked), std::memory_order_seq_cst);
    }
    for (int worker : sleepers) parkers_[Size(worker)].Unpark();
  }

  // How many search and how many are parked, at about this moment. Any thread.
  [[nodiscard]] int searching() const {
    return static_cast<int>(Searching(word_.load(std::memory_order_relaxed)));
  }
  [[nodiscard]] int parked() const {
    return static_cast<int>(ParkedCount(word_.load(std::memory_order_relaxed)));
  }

 private:
  static constexpr std::uint64_t kOneSearching = 1;
  static constexpr std::uint64_t kOneParked = std::uint64_t{1} << 32;
  static constexpr std::uint64_t Searching(std::uint64_t word) { return word & (kOneParked - 1); }
  static constexpr std::uint64_t ParkedCount(std::uint64_t word) { return word >> 32; }
  static constexpr bool WakeIsDue(std::uint64_t word) {
    return Searching(word) == 0 && ParkedCount(word) != 0;
  }
  static constexpr std::size_t Size(int n) { return static_cast<std::size_t>(n); }

  // With the mutex held.
  [[nodiscard]] bool AllParked() const { return parked_.size() == Size(workers_); }

  // Puts `worker` on the list.
  Announced Announce(int worker, bool searching) {
    std::lock_guard<Mutex> lock(mutex_);
    parked_.push_back(worker);
    const std::uint64_t change = searching ? kOneParked - kOneSearching : kOneParked;
    word_.fetch_add(change, std::memory_order_seq_cst);
    return {AllParked(), departures_};
  }

  // Takes `worker` off the list again and counts it as searching: it may have been the last
  // searcher before, for whose sake others were not woken, and owes them that.
  // False if another thread has taken it off: a token comes.
  bool Withdraw(int worker) {
    std::lock_guard<Mutex> lock(mutex_);
    const auto at = std::find(parked_.begin(), parked_.end(), worker);
    if (at == parked_.end()) return false;
    parked_.erase(at);
    ++departures_;
    word_.fetch_add(kOneSearching - kOneParked, std::memory_order_seq_cst);
    return true;
  }

  // Wakes the worker that parked last, whose caches are the warmest, as a searcher.
  void WakeOne() {
    int worker;
    {
      std::lock_guard<Mutex> lock(mutex_);
      if (!WakeIsDue(word_.load(std::memory_order_seq_cst))) return;
      worker = parked_.back();
      parked_.pop_back();
      ++departures_;
      word_.fetch_add(kOneSearching - kOneParked, std::memory_order_seq_cst);
    }
    parkers_[Size(worker)].Unpark();
  }

  // {parked: 32, searching: 32}. Every push of every worker reads it: alone on its line.
  alignas(kCacheLine) Atomic<std::uint64_t> word_{0};
  // Changes of the parked count, together with the list, hold the lock.
  alignas(kCacheLine) Mutex mutex_;
  std::vector<int> parked_;  // Guarded by mutex_. The last parked is woken first.
  const std::size_t search_limit_;
  const std::unique_ptr<BasicParker<Atomic, Sleep>[]> parkers_;
  int workers_;                   // Guarded by mutex_.
  std::uint64_t departures_ = 0;  // Guarded by mutex_. From the list; a worker that came counts.
};

using IdleSet = BasicIdleSet<std::atomic, std::mutex, Futex>;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_IDLE_SET_H_
