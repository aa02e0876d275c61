// Timeline: records what the workers of a pool do, and writes it as a timeline that Perfetto
// (ui.perfetto.dev) and chrome://tracing open. Each worker has a track; on it lie the tasks, the
// named scopes inside them (trace_scope.h) and the times it was parked. Each steal is an arrow,
// from the victim's track to the task that the thief then ran.
//
//   Timeline timeline({.name = "compute"});
//   WorkStealingPool pool({.trace = &timeline});
//   ...
//   std::ofstream file("timeline.json");
//   status = timeline.WriteJson(file);
//
// It costs two looks at the clock and 48 bytes of memory per task.
//
// Thread safety: the sink's methods as trace_sink.h says; the others any thread, at any time. One
// timeline per pool. What is written is what has ended by then.
//
// Limit: Options::max_spans per worker; what comes after is dropped, and counted.
//
// Source: "Trace Event Format", the Chromium project: duration events (B, E), flow events (s, f),
// instants (i) and metadata (M).

#ifndef JACKDAW_SCHEDULER_TRACE_TIMELINE_H_
#define JACKDAW_SCHEDULER_TRACE_TIMELINE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scheduler/base/clock.h"
#include "scheduler/pool/trace_sink.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/trace/track_buffer.h"

namespace jackdaw {

class Timeline final : public TraceSink {
 public:
  struct Options {
    std::string name = "pool";           // Stands over the tracks.
    std::int64_t max_spans = 1'000'000;  // Per worker; 0 or more.
    // Marks where a task makes another. They count as spans, and there may be as many as tasks.
    bool spawns = false;
    Clock* clock = &Clock::Real();
  };

  explicit Timeline(Options options);
  ~Timeline() override;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Writes all that has ended as one JSON object. DATA_LOSS when `out` fails.
  absl::Status WriteJson(std::ostream& out) const;

  // Spans that the limit kept out, of all workers.
  [[nodiscard]] std::int64_t dropped() const;

  [[nodiscard]] const std::string& name() const { return options_.name; }
  // What is kept of `worker`, or null: nothing.
  [[nodiscard]] const TrackBuffer* track(int worker) const {
    return tracks_[static_cast<std::size_t>(worker)].load(std::memory_order_acquire);
  }
  static constexpr int kMaxTracks = WorkStealingPool::kMaxWorkers + WorkStealingPool::kMaxBlocked;

  void TaskBegins(int worker, const Task& task, Origin origin) noexcept override;
  void TaskEnds(int worker) noexcept override;
  void Steals(int thief, int victim, const Task& task) noexcept override;
  void Spawns(int worker, const Task& task) noexcept override;
  void Parks(int worker) noexcept override;
  void Unparks(int worker) noexcept override;
  void ScopeBegins(int worker, const char* name) noexcept override;
  void ScopeEnds(int worker) noexcept override;

 private:
  // The track of the calling worker, made on first use.
  [[nodiscard]] TrackBuffer& Track(int worker);
  [[nodiscard]] std::int64_t Now() const { return options_.clock->MonotonicNanos(); }

  const Options options_;
  // Each is set once, by its worker (release), and read by writers (acquire).
  std::array<std::atomic<TrackBuffer*>, kMaxTracks> tracks_{};
};

// Writes the timelines of several pools, which share a clock, as one: a group of tracks for each.
absl::Status WriteTimelines(absl::Span<const Timeline* const> timelines, std::ostream& out);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_TRACE_TIMELINE_H_
