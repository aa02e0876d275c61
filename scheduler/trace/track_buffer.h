// TrackBuffer: what a Timeline keeps of one worker. Internal to scheduler/trace.
//
// A span is kept when it ends, so those inside it come before it. With its depth, how many spans
// were open around it, the order tells exactly which lies in which, also where a clock stands
// still between them.
//
// Thread safety
//   Begin(), End(), Mark(), WillSteal()   the worker's thread.
//   size(), operator[], dropped()         any thread, at any time.
//
// Memory order: a span is written, then published by a release store of `size_`; a reader that
// loads the size (acquire) may read all spans below it. They never change again.
//
// Limit: `max_spans`; what comes after is counted and forgotten.

#ifndef JACKDAW_SCHEDULER_TRACE_TRACK_BUFFER_H_
#define JACKDAW_SCHEDULER_TRACE_TRACK_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/base/cache_line.h"
#include "scheduler/base/segmented.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

struct TrackSpan {
  enum class Kind : std::uint8_t { kTask, kScope, kPark, kSpawn };
  static constexpr std::int32_t kNobody = -1;

  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t stolen_ns = 0;     // When it was taken from `victim`.
  const char* name = nullptr;     // Of a scope.
  std::int32_t victim = kNobody;  // Of a task that was stolen.
  std::uint32_t depth = 0;
  Kind kind = Kind::kTask;
  Origin origin = Origin::kOwnDeque;  // Of a task.
};

class alignas(kCacheLine) TrackBuffer {
 public:
  explicit TrackBuffer(std::size_t max_spans) : max_spans_(max_spans) {}

  // Opens a span inside those that are open.
  void Begin(TrackSpan span) {
    span.depth = static_cast<std::uint32_t>(open_.size());
    open_.push_back(span);
  }
  // Closes the newest one that is open of the kind `kind`, and whatever is still open inside it.
  // Nothing if there is none.
  void End(TrackSpan::Kind kind, std::int64_t now_ns);
  // Keeps a span without length.
  void Mark(TrackSpan span) {
    span.depth = static_cast<std::uint32_t>(open_.size());
    Keep(span);
  }

  // The next task to begin was stolen.
  void WillSteal(std::int32_t victim, std::int64_t now_ns) {
    victim_ = victim;
    stolen_ns_ = now_ns;
  }
  // Puts that into `task`.
  void AddSteal(TrackSpan& task) {
    task.victim = victim_;
    task.stolen_ns = stolen_ns_;
    victim_ = TrackSpan::kNobody;
  }

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] const TrackSpan& operator[](std::size_t i) const { return spans_[i]; }
  [[nodiscard]] std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void Keep(const TrackSpan& span);

  // The worker's own.
  const std::size_t max_spans_;
  std::vector<TrackSpan> open_;
  std::int32_t victim_ = TrackSpan::kNobody;
  std::int64_t stolen_ns_ = 0;
  // Written by the worker, read by whoever writes the timeline.
  Segmented<TrackSpan, 1024> spans_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::int64_t> dropped_{0};
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_TRACE_TRACK_BUFFER_H_
