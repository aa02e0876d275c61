#include "scheduler/trace/timeline.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace jackdaw {

using Kind = TrackSpan::Kind;

Timeline::Timeline(Options options) : options_(std::move(options)) {}

Timeline::~Timeline() {
  for (std::atomic<TrackBuffer*>& track : tracks_) delete track.load(std::memory_order_acquire);
}

absl::Status Timeline::WriteJson(std::ostream& out) const {
  const Timeline* const self = this;
  return WriteTimelines(absl::MakeConstSpan(&self, 1), out);
}

std::int64_t Timeline::dropped() const {
  std::int64_t count = 0;
  for (int worker = 0; worker < kMaxTracks; ++worker) {
    const TrackBuffer* const buffer = track(worker);
    if (buffer != nullptr) count += buffer->dropped();
  }
  return count;
}

TrackBuffer& Timeline::Track(int worker) {
  std::atomic<TrackBuffer*>& track = tracks_[static_cast<std::size_t>(worker)];
  TrackBuffer* buffer = track.load(std::memory_order_relaxed);
  if (buffer == nullptr) {
    const std::int64_t max_spans = std::max<std::int64_t>(0, options_.max_spans);
    buffer = new TrackBuffer(static_cast<std::size_t>(max_spans));
    track.store(buffer, std::memory_order_release);
  }
  return *buffer;
}

void Timeline::TaskBegins(int worker, const Task&, Origin origin) noexcept {
  TrackBuffer& track = Track(worker);
  TrackSpan span = {.begin_ns = Now(), .kind = Kind::kTask, .origin = origin};
  track.AddSteal(span);
  track.Begin(span);
}

void Timeline::TaskEnds(int worker) noexcept { Track(worker).End(Kind::kTask, Now()); }

void Timeline::Steals(int thief, int victim, const Task&) noexcept {
  Track(thief).WillSteal(victim, Now());
}

void Timeline::Spawns(int worker, const Task&) noexcept {
  if (!options_.spawns) return;
  const std::int64_t now_ns = Now();
  Track(worker).Mark({.begin_ns = now_ns, .end_ns = now_ns, .kind = Kind::kSpawn});
}

void Timeline::Parks(int worker) noexcept {
  Track(worker).Begin({.begin_ns = Now(), .kind = Kind::kPark});
}

void Timeline::Unparks(int worker) noexcept { Track(worker).End(Kind::kPark, Now()); }

void Timeline::ScopeBegins(int worker, const char* name) noexcept {
  Track(worker).Begin({.begin_ns = Now(), .name = name, .kind = Kind::kScope});
}

void Timeline::ScopeEnds(int worker) noexcept { Track(worker).End(Kind::kScope, Now()); }

}  // namespace jackdaw
