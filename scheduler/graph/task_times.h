// TaskTimes: when the latest attempt of a task was queued, started and ended, in 16 bytes.
// Written once each and rarely read, so apart from what a worker needs to run the task.
//
// Thread safety: writing by whoever moves the task from state to state; reading by any thread. All
// relaxed: a record read meanwhile may mix two attempts, never tear.

#ifndef JACKDAW_SCHEDULER_GRAPH_TASK_TIMES_H_
#define JACKDAW_SCHEDULER_GRAPH_TASK_TIMES_H_

#include <atomic>
#include <cstdint>

namespace jackdaw {

// Who started an attempt, in 16 bits; never 0.
struct StartedBy {
  int worker = -1;  // -1: not known.
  bool stolen = false;

  static constexpr std::uint16_t kStolen = 1 << 15;
  static constexpr std::uint16_t kKnown = 1 << 14;
  [[nodiscard]] std::uint16_t Pack() const {
    return static_cast<std::uint16_t>((worker + 1) | kKnown | (stolen ? kStolen : 0));
  }
  static StartedBy Unpack(std::uint16_t packed) {
    return {(packed & (kKnown - 1)) - 1, (packed & kStolen) != 0};
  }
};

class TaskTimes {
 public:
  // Times are nanoseconds since the job's creation; negative: not yet.
  struct View {
    std::int64_t queued_ns = -1;
    std::int64_t started_ns = -1;
    std::int64_t ended_ns = -1;  // As long as the attempt runs that of its start.
    StartedBy by;
  };

  // A time in units of 64 ns.
  static std::uint64_t Stamp(std::int64_t ns) {
    return static_cast<std::uint64_t>(ns) >> kUnitBits;
  }

  void Queued(std::uint64_t stamp) { since_.store(stamp | kInQueue, std::memory_order_relaxed); }
  // `by`: StartedBy::Pack().
  void Started(std::uint64_t stamp, std::uint16_t by) {
    const std::uint64_t queued = since_.load(std::memory_order_relaxed) & kStampMask;
    waited_.store(Span(stamp - queued), std::memory_order_relaxed);
    ran_.store(0, std::memory_order_relaxed);
    since_.store(stamp | std::uint64_t{by} << kStampBits, std::memory_order_relaxed);
  }
  void Ended(std::uint64_t stamp) {
    const std::uint64_t started = since_.load(std::memory_order_relaxed) & kStampMask;
    ran_.store(Span(stamp - started), std::memory_order_relaxed);
  }

  [[nodiscard]] View Read() const {
    const std::uint64_t since = since_.load(std::memory_order_relaxed);
    const auto ns = static_cast<std::int64_t>((since & kStampMask) << kUnitBits);
    View view;
    if (since == 0) return view;
    view.queued_ns = ns;
    if (since >> kStampBits == kInQueue >> kStampBits) return view;
    view.queued_ns = ns - Nanos(waited_);
    view.started_ns = ns;
    view.ended_ns = ns + Nanos(ran_);
    view.by = StartedBy::Unpack(static_cast<std::uint16_t>(since >> kStampBits));
    return view;
  }

 private:
  static constexpr int kUnitBits = 6;
  static constexpr int kStampBits = 48;  // 208 days.
  static constexpr std::uint64_t kStampMask = (1ull << kStampBits) - 1;
  static constexpr std::uint64_t kInQueue = 1ull << kStampBits;  // No StartedBy is 1.

  static float Span(std::uint64_t units) {
    return static_cast<float>(static_cast<std::int64_t>(units));
  }
  static std::int64_t Nanos(const std::atomic<float>& span) {
    return static_cast<std::int64_t>(span.load(std::memory_order_relaxed)) << kUnitBits;
  }

  // A stamp and, beside it, who started the attempt then, or that it was queued then. 0: neither.
  std::atomic<std::uint64_t> since_{0};
  // In units of 64 ns. Seven digits of a span are enough.
  std::atomic<float> waited_{0};
  std::atomic<float> ran_{0};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_TASK_TIMES_H_
