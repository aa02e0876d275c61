#include "client/cli/reporter.h"

#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/text.h"

namespace jackdaw::cli {
namespace {

constexpr absl::Duration kRedrawInterval = absl::Milliseconds(100);
constexpr absl::Duration kCountsInterval = absl::Seconds(1);
// Up to so many tasks a job is told task by task.
constexpr std::int64_t kMaxToldTasks = 500;

// Draws from its own thread, so that the seconds go on while no event comes.
class LiveReporter final : public Reporter {
 public:
  LiveReporter(const Context& context, Progress progress)
      : context_(context), start_(absl::Now()), progress_(std::move(progress)) {
    drawer_ = std::thread([this] { Draw(); });
  }

  ~LiveReporter() override { End(); }

  void OnEvent(const v1::JobEvent& event) override {
    const absl::MutexLock lock(&mutex_);
    progress_.Apply(event);
  }

  void Say(const std::string& line) override {
    const absl::MutexLock lock(&mutex_);
    Erase();
    *context_.err << line << "\n";
    Show();
  }

  void End() override {
    {
      const absl::MutexLock lock(&mutex_);
      if (ending_) return;
      ending_ = true;
      wake_.Signal();
    }
    drawer_.join();
    const absl::MutexLock lock(&mutex_);
    Erase();
    context_.err->flush();
  }

  // The drawer only reads it, so after the events nobody writes.
  [[nodiscard]] const Progress& progress() const override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return progress_;
  }

 private:
  void Draw() {
    const absl::MutexLock lock(&mutex_);
    while (!ending_) {
      Erase();
      Show();
      wake_.WaitWithTimeout(&mutex_, kRedrawInterval);
    }
  }

  void Erase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (; drawn_lines_ > 0; --drawn_lines_) *context_.err << "\x1b[1A\x1b[2K";
    *context_.err << "\r";
  }

  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // A line as wide as the window would wrap on some terminals.
    const auto lines = RenderProgress(progress_, absl::Now() - start_, context_.width() - 1,
                                      context_.colour ? Colour::kYes : Colour::kNo);
    for (const std::string& line : lines) *context_.err << line << "\n";
    drawn_lines_ = lines.size();
    context_.err->flush();
  }

  const Context& context_;
  const absl::Time start_;
  absl::Mutex mutex_;
  absl::CondVar wake_;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
  std::size_t drawn_lines_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread drawer_;
};

class PlainReporter final : public Reporter {
 public:
  enum class Detail { kNothing, kTasks };

  PlainReporter(const Context& context, Progress progress, Detail detail)
      : context_(context), detail_(detail), progress_(std::move(progress)) {}

  void OnEvent(const v1::JobEvent& event) override {
    const bool first = progress_.job().name().empty();
    const std::vector<Progress::Change> ended = progress_.Apply(event);
    if (detail_ == Detail::kNothing) return;
    const v1::Job& job = progress_.job();
    const v1::TaskCounts& counts = job.task_counts();
    if (first && !job.name().empty()) {
      Say(absl::StrCat(job.name(), " ", Printable(progress_.title(), LineEnds::kEscape), ": ",
                       Count(counts.total(), "task")));
    }
    if (counts.total() <= kMaxToldTasks) {
      for (const Progress::Change& change : ended) {
        Say(absl::StrCat(StateName(change.state), " ", progress_.TaskLabel(change.index)));
      }
    } else if (absl::Now() >= next_counts_) {
      Say(absl::StrCat(Done(counts), "/", counts.total(), " tasks, ", Remarks(counts)));
      next_counts_ = absl::Now() + kCountsInterval;
    }
  }

  void Say(const std::string& line) override {
    const absl::MutexLock lock(&mutex_);
    *context_.err << line << std::endl;
  }

  void End() override {}
  [[nodiscard]] const Progress& progress() const override { return progress_; }

 private:
  const Context& context_;
  const Detail detail_;
  absl::Mutex mutex_;  // For lines of several threads.
  Progress progress_;
  absl::Time next_counts_ = absl::InfinitePast();
};

}  // namespace

std::unique_ptr<Reporter> MakeLiveReporter(const Context& context, Progress progress) {
  return std::make_unique<LiveReporter>(context, std::move(progress));
}

std::unique_ptr<Reporter> MakePlainReporter(const Context& context, Progress progress) {
  return std::make_unique<PlainReporter>(context, std::move(progress),
                                         PlainReporter::Detail::kTasks);
}

std::unique_ptr<Reporter> MakeSilentReporter(const Context& context, Progress progress) {
  return std::make_unique<PlainReporter>(context, std::move(progress),
                                         PlainReporter::Detail::kNothing);
}

std::unique_ptr<Reporter> MakeReporter(const Context& context, Progress progress) {
  return context.err_is_terminal ? MakeLiveReporter(context, std::move(progress))
                                 : MakePlainReporter(context, std::move(progress));
}

}  // namespace jackdaw::cli
