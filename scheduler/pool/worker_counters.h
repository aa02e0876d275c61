// WorkerCounters: what one worker counts about itself, on lines that only it writes.
//
// Thread safety: the worker adds, any thread reads.
//
// Memory order: relaxed, but for what is published, and for the spans. A span that has begun is
// added to the total when it ends: Finish() clears the beginning first and adds with release, and
// Read() loads the total first with acquire. So a reader may miss the end of a span, but never
// counts it twice.

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_COUNTERS_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

inline constexpr int kOriginCount = static_cast<int>(Origin::kInline) + 1;

// A number that one thread adds to: a load and a store, no read-modify-write.
class Counter {
 public:
  void Add(std::int64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t Read() const { return value_.load(std::memory_order_relaxed); }

  // The same, and who reads it sees what was done before.
  void Publish(std::int64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  [[nodiscard]] std::int64_t ReadPublished() const {
    return value_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Time spent in a state that is entered and left, the current stay included.
class SpanCounter {
 public:
  void Begin(std::int64_t now_ns) { since_ns_.store(now_ns, std::memory_order_relaxed); }
  void Finish(std::int64_t now_ns) {
    const std::int64_t since = since_ns_.load(std::memory_order_relaxed);
    since_ns_.store(kNotIn, std::memory_order_relaxed);
    total_ns_.store(total_ns_.load(std::memory_order_relaxed) + (now_ns - since),
                    std::memory_order_release);
  }
  [[nodiscard]] std::int64_t Read(std::int64_t now_ns) const {
    const std::int64_t total = total_ns_.load(std::memory_order_acquire);
    const std::int64_t since = since_ns_.load(std::memory_order_relaxed);
    return since == kNotIn || now_ns < since ? total : total + (now_ns - since);
  }

 private:
  static constexpr std::int64_t kNotIn = INT64_MIN;
  std::atomic<std::int64_t> since_ns_{kNotIn};
  std::atomic<std::int64_t> total_ns_{0};
};

// What becomes WorkerStats, field by field.
struct alignas(kCacheLine) WorkerCounters {
  Counter tasks;
  Counter by_origin[kOriginCount];  // By the value of Origin.
  Counter finished;                 // Run or dropped, to the end. Published. No inline runs.
  Counter pushed;                   // Accepted through this worker.
  Counter dropped;
  Counter steals_empty;
  Counter steals_lost;
  Counter idle_spins;
  Counter spin_ns;
  Counter parks;
  Counter wakeups;
  Counter wakeups_without_work;
  SpanCounter busy;
  SpanCounter park;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_COUNTERS_H_
