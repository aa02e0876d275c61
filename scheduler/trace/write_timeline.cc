// Timelines as trace events: the nesting of each track found again, the steals of others put in
// between, and all written in the order of their times.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "scheduler/trace/timeline.h"

namespace jackdaw {
namespace {

constexpr std::size_t kFlushBytes = 64 * 1024;

// The spans of one track that were there when the writing began.
struct Track {
  const TrackBuffer* buffer = nullptr;
  std::size_t size = 0;
};

// A task was taken from the track at that time; `arrow` numbers it.
struct Loss {
  std::int64_t at_ns;
  std::int64_t arrow;
  int thief;
};

// What stands on a track, in order. A begin and an end for most spans.
struct Entry {
  enum class What { kBegin, kEnd, kInstant };
  What what;
  std::int64_t at_ns;
  std::size_t span;
};

absl::string_view Name(Origin origin) {
  switch (origin) {
    case Origin::kOwnDeque:
      return "own deque";
    case Origin::kStolen:
      return "stolen";
    case Origin::kInjector:
      return "injector";
    case Origin::kMailbox:
      return "mailbox";
    case Origin::kInline:
      return "inline";
  }
  return "";
}

std::string Victim(const TrackSpan& span) {
  if (span.victim == TrackSpan::kNobody) return "";
  return absl::StrCat(R"(,"victim":)", span.victim);
}

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned>(c));
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

// Spans lie in the order of their ends, so from the last on each one comes before those inside it.
// A span whose surroundings the limit kept out stands for itself.
std::vector<Entry> InOrder(const Track& track) {
  std::vector<Entry> backwards;
  std::vector<std::size_t> open;
  const auto close = [&](std::size_t depth) {
    while (!open.empty() && (*track.buffer)[open.back()].depth >= depth) {
      const std::size_t span = open.back();
      backwards.push_back({Entry::What::kBegin, (*track.buffer)[span].begin_ns, span});
      open.pop_back();
    }
  };
  for (std::size_t i = track.size; i > 0; --i) {
    const TrackSpan& span = (*track.buffer)[i - 1];
    close(span.depth);
    if (span.kind == TrackSpan::Kind::kSpawn) {
      backwards.push_back({Entry::What::kInstant, span.begin_ns, i - 1});
    } else {
      backwards.push_back({Entry::What::kEnd, span.end_ns, i - 1});
      open.push_back(i - 1);
    }
  }
  close(0);
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  absl::Status Write(absl::Span<const Timeline* const> timelines);

 private:
  // One timeline.
  void Group(int pid, const Timeline& timeline, const std::vector<Track>& tracks);
  void WriteTrack(int worker, const Track& track, const std::vector<Loss>& losses);
  void WriteEntry(int worker, const Track& track, const Entry& entry);
  void WriteBegin(int worker, const TrackSpan& span, std::int64_t arrow);
  void WriteLoss(int worker, const Loss& loss);

  void Meta(int worker, absl::string_view what, absl::string_view name);
  // Begins an event of the phase `phase`; `rest` follows, and closes it.
  void Event(absl::string_view phase, int worker, std::int64_t at_ns, absl::string_view rest);
  void Flush();

  // Unique, and exact as a double.
  [[nodiscard]] std::int64_t Arrow(int thief, std::size_t span) const {
    return (static_cast<std::int64_t>(pid_) * Timeline::kMaxTracks + thief) * (1LL << 31) +
           static_cast<std::int64_t>(span);
  }

  std::ostream& out_;
  std::string text_;
  int pid_ = 0;
  bool first_ = true;
  std::int64_t zero_ns_ = 0;  // Where the timeline begins.
};

// The tracks of `timeline`, up to the last worker that it knows, victims included.
std::vector<Track> TracksOf(const Timeline& timeline) {
  std::vector<Track> tracks(Timeline::kMaxTracks);
  std::size_t count = 0;
  for (int worker = 0; worker < Timeline::kMaxTracks; ++worker) {
    const TrackBuffer* const buffer = timeline.track(worker);
    if (buffer == nullptr) continue;
    tracks[static_cast<std::size_t>(worker)] = {buffer, buffer->size()};
    count = std::max(count, static_cast<std::size_t>(worker) + 1);
    for (std::size_t i = 0; i < tracks[static_cast<std::size_t>(worker)].size; ++i) {
      count = std::max(count, static_cast<std::size_t>((*buffer)[i].victim + 1));
    }
  }
  tracks.resize(count);
  return tracks;
}

std::int64_t FirstTime(const std::vector<std::vector<Track>>& groups) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<Track>& tracks : groups) {
    for (const Track& track : tracks) {
      for (std::size_t i = 0; i < track.size; ++i) {
        const TrackSpan& span = (*track.buffer)[i];
        first_ns = std::min(first_ns, span.begin_ns);
        if (span.victim != TrackSpan::kNobody) first_ns = std::min(first_ns, span.stolen_ns);
      }
    }
  }
  return first_ns;
}

absl::Status Writer::Write(absl::Span<const Timeline* const> timelines) {
  std::vector<std::vector<Track>> groups;
  std::int64_t dropped = 0;
  for (const Timeline* timeline : timelines) {
    groups.push_back(TracksOf(*timeline));
    dropped += timeline->dropped();
  }
  zero_ns_ = FirstTime(groups);
  text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group(static_cast<int>(i) + 1, *timelines[i], groups[i]);
  }
  absl::StrAppend(&text_, "\n],\"otherData\":{\"dropped_spans\":", dropped, "}}\n");
  Flush();
  out_.flush();
  if (out_.good()) return absl::OkStatus();
  return absl::DataLossError("the stream that takes the timeline failed: it is not whole");
}

void Writer::Group(int pid, const Timeline& timeline, const std::vector<Track>& tracks) {
  pid_ = pid;
  Meta(0, "process_name", timeline.name());
  std::vector<std::vector<Loss>> losses(tracks.size());
  for (std::size_t thief = 0; thief < tracks.size(); ++thief) {
    Meta(static_cast<int>(thief), "thread_name", absl::StrCat(timeline.name(), ".worker.", thief));
    for (std::size_t i = 0; i < tracks[thief].size; ++i) {
      const TrackSpan& span = (*tracks[thief].buffer)[i];
      if (span.victim == TrackSpan::kNobody) continue;
      losses[static_cast<std::size_t>(span.victim)].push_back(
          {span.stolen_ns, Arrow(static_cast<int>(thief), i), static_cast<int>(thief)});
    }
  }
  for (std::size_t worker = 0; worker < tracks.size(); ++worker) {
    const auto earlier = [](const Loss& a, const Loss& b) { return a.at_ns < b.at_ns; };
    std::stable_sort(losses[worker].begin(), losses[worker].end(), earlier);
    WriteTrack(static_cast<int>(worker), tracks[worker], losses[worker]);
  }
}

void Writer::WriteTrack(int worker, const Track& track, const std::vector<Loss>& losses) {
  std::size_t next = 0;
  for (const Entry& entry : InOrder(track)) {
    while (next < losses.size() && losses[next].at_ns < entry.at_ns) {
      WriteLoss(worker, losses[next++]);
    }
    WriteEntry(worker, track, entry);
  }
  while (next < losses.size()) WriteLoss(worker, losses[next++]);
}

void Writer::WriteEntry(int worker, const Track& track, const Entry& entry) {
  const TrackSpan& span = (*track.buffer)[entry.span];
  switch (entry.what) {
    case Entry::What::kBegin:
      return WriteBegin(worker, span, Arrow(worker, entry.span));
    case Entry::What::kEnd:
      return Event("E", worker, entry.at_ns, "}");
    case Entry::What::kInstant:
      return Event("i", worker, entry.at_ns, R"(,"s":"t","cat":"spawn","name":"spawn"})");
  }
}

void Writer::WriteBegin(int worker, const TrackSpan& span, std::int64_t arrow) {
  const auto begin = [&](absl::string_view rest) { Event("B", worker, span.begin_ns, rest); };
  switch (span.kind) {
    case TrackSpan::Kind::kTask:
      begin(absl::StrCat(R"(,"cat":"task","name":"task","args":{"origin":")", Name(span.origin),
                         "\"", Victim(span), "}}"));
      break;
    case TrackSpan::Kind::kScope:
      begin(absl::StrCat(R"(,"cat":"scope","name":)", Quoted(span.name), "}"));
      break;
    case TrackSpan::Kind::kPark:
      begin(R"(,"cat":"park","name":"parked"})");
      break;
    case TrackSpan::Kind::kSpawn:
      break;  // An instant.
  }
  if (span.victim == TrackSpan::kNobody) return;
  // The head of the arrow lies in the span that has just begun.
  Event("f", worker, span.begin_ns,
        absl::StrCat(R"(,"bp":"e","cat":"steal","name":"steal","id":)", arrow, "}"));
}

// The tail of an arrow needs a span to lie in, also where the victim did nothing just then.
void Writer::WriteLoss(int worker, const Loss& loss) {
  Event("B", worker, loss.at_ns,
        absl::StrCat(R"(,"cat":"steal","name":"stolen","args":{"thief":)", loss.thief, "}}"));
  Event("s", worker, loss.at_ns,
        absl::StrCat(R"(,"cat":"steal","name":"steal","id":)", loss.arrow, "}"));
  Event("E", worker, loss.at_ns, "}");
}

void Writer::Meta(int worker, absl::string_view what, absl::string_view name) {
  absl::StrAppend(&text_, first_ ? "\n" : ",\n", R"({"ph":"M","pid":)", pid_, R"(,"tid":)",
                  worker + 1, R"(,"name":")", what, R"(","args":{"name":)", Quoted(name), "}}");
  first_ = false;
}

void Writer::Event(absl::string_view phase, int worker, std::int64_t at_ns,
                   absl::string_view rest) {
  const std::int64_t ns = at_ns - zero_ns_;
  absl::StrAppend(&text_, ",\n{\"ph\":\"", phase, R"(","pid":)", pid_, R"(,"tid":)", worker + 1);
  // Microseconds.
  absl::StrAppendFormat(&text_, R"(,"ts":%d.%03d)", ns / 1000, ns % 1000);
  absl::StrAppend(&text_, rest);
  if (text_.size() >= kFlushBytes) Flush();
}

void Writer::Flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

}  // namespace

absl::Status WriteTimelines(absl::Span<const Timeline* const> timelines, std::ostream& out) {
  return Writer(out).Write(timelines);
}

}  // namespace jackdaw
