#include "client/cli/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/text.h"
#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

constexpr std::size_t kMaxBarWidth = 40;
constexpr std::size_t kMinBarWidth = 8;
// Far more than any server sends; an index beyond comes from a broken one.
constexpr std::int32_t kMaxIndex = 1 << 28;

const char* ColourOf(v1::Job::State state) {
  switch (state) {
    case v1::Job::STATE_SUCCEEDED:
      return "\x1b[32m";
    case v1::Job::STATE_FAILED:
      return "\x1b[31m";
    case v1::Job::STATE_CANCELLED:
    case v1::Job::STATE_CANCELLING:
      return "\x1b[33m";
    default:
      return "\x1b[36m";
  }
}

std::string Bar(std::int64_t done, std::int64_t total, std::size_t width) {
  const std::size_t inner = width - 2;
  const double share = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
  const auto filled = std::min(inner, static_cast<std::size_t>(share * static_cast<double>(inner)));
  std::string bar(inner, ' ');
  std::fill(bar.begin(), bar.begin() + static_cast<std::ptrdiff_t>(filled), '#');
  if (filled < inner && done > 0) bar[filled] = '>';
  return absl::StrCat("[", bar, "]");
}

std::string RunningLine(const Progress& progress, std::size_t width) {
  const std::set<std::int32_t>& running = progress.running();
  std::string line = "running: ";
  std::size_t shown = 0;
  for (const std::int32_t index : running) {
    const std::size_t left = running.size() - shown;
    const std::string more = absl::StrCat(" and ", left, " more");
    const std::string label = absl::StrCat(shown == 0 ? "" : ", ", progress.TaskLabel(index));
    const std::size_t reserve = left > 1 ? Width(more) : 0;
    if (shown > 0 && Width(line) + Width(label) + reserve > width) {
      return Clip(absl::StrCat(line, more), width);
    }
    line += label;
    ++shown;
  }
  return Clip(line, width);
}

}  // namespace

std::vector<Progress::Change> Progress::Apply(const v1::JobEvent& event) {
  if (event.resync()) {
    std::fill(states_.begin(), states_.end(), std::uint8_t{0});
    running_.clear();
  }
  if (event.has_job()) job_ = event.job();
  std::vector<Change> ended;
  const int changed = std::min(event.task_indices_size(), event.task_states_size());
  for (int i = 0; i < changed; ++i) {
    const std::int32_t index = event.task_indices(i);
    if (index < 0 || index > kMaxIndex) continue;
    const auto place = static_cast<std::size_t>(index);
    if (place >= states_.size()) states_.resize(std::max(place + 1, states_.size() * 2));
    const v1::Task::State state = event.task_states(i);
    const auto before = static_cast<v1::Task::State>(states_[place]);
    states_[place] = static_cast<std::uint8_t>(state);
    if (state == v1::Task::STATE_RUNNING) {
      running_.insert(index);
    } else {
      running_.erase(index);
    }
    if (client::IsTerminal(state) && !client::IsTerminal(before)) ended.push_back({index, state});
  }
  return ended;
}

std::string Progress::TaskLabel(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < ids_.size() && !ids_[place].empty() ? Printable(ids_[place], LineEnds::kEscape)
                                                     : absl::StrCat(index);
}

v1::Task::State Progress::task_state(std::int32_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < states_.size() ? static_cast<v1::Task::State>(states_[place])
                                : v1::Task::STATE_UNSPECIFIED;
}

std::int64_t Done(const v1::TaskCounts& counts) {
  return counts.succeeded() + counts.failed() + counts.cancelled() + counts.skipped();
}

std::string Remarks(const v1::TaskCounts& counts) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::int64_t count, const char* what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  };
  add(counts.running(), "running");
  add(counts.queued(), "queued");
  add(counts.waiting_for_children(), "waiting for children");
  add(counts.backoff(), "in backoff");
  add(counts.failed(), "failed");
  add(counts.cancelled(), "cancelled");
  add(counts.skipped(), "skipped");
  return absl::StrJoin(parts, ", ");
}

std::string Summary(const v1::TaskCounts& counts) {
  const std::string remarks = Remarks(counts);
  return absl::StrCat(Count(counts.total(), "task"), ": ", counts.succeeded(), " succeeded",
                      remarks.empty() ? "" : ", ", remarks);
}

std::vector<std::string> RenderProgress(const Progress& progress, absl::Duration elapsed, int width,
                                        Colour colour) {
  const auto columns = static_cast<std::size_t>(std::max(width, 1));
  const v1::Job& job = progress.job();
  const v1::TaskCounts& counts = job.task_counts();
  const auto paint = [&](const std::string& text) {
    return colour == Colour::kYes ? absl::StrCat(ColourOf(job.state()), text, "\x1b[0m") : text;
  };
  std::vector<std::string> lines;
  const std::string title = Printable(progress.title(), LineEnds::kEscape);
  const std::string state = job.name().empty() ? "SUBMITTING" : StateName(job.state());
  lines.push_back(
      paint(Clip(absl::StrCat(state, "  ", title, "  ", Printable(job.name(), LineEnds::kEscape),
                              "  ", ReadableDuration(elapsed)),
                 columns)));
  const std::string remarks = Remarks(counts);
  const std::string numbers = absl::StrCat(Done(counts), "/", counts.total(), " tasks",
                                           remarks.empty() ? "" : "  ", remarks);
  if (Width(numbers) + 1 + kMinBarWidth <= columns) {
    const std::size_t bar = std::min(kMaxBarWidth, columns - Width(numbers) - 1);
    lines.push_back(absl::StrCat(paint(Bar(Done(counts), counts.total(), bar)), " ", numbers));
  } else {
    lines.push_back(Clip(numbers, columns));
  }
  if (!progress.running().empty()) lines.push_back(RunningLine(progress, columns));
  return lines;
}

}  // namespace jackdaw::cli
