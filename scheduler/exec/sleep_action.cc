#include "scheduler/exec/sleep_action.h"

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/exec/payload.h"
#include "scheduler/exec/stock_functions.h"

namespace jackdaw {
namespace {

// One attempt. Its end comes from the timer or from a stop, whichever is first; the stop
// may even come before Begin().
class Sleep : public std::enable_shared_from_this<Sleep> {
 public:
  explicit Sleep(TimerQueue& timers) : timers_(timers) {}

  void Begin(std::shared_ptr<DetachedAttempt> attempt, absl::Duration span) {
    const TimerQueue::TimerId timer =
        timers_.After(span, [self = shared_from_this()] { self->End(absl::OkStatus()); });
    // An end that came before the attempt was known could not finish it. From here on it can,
    // and knows the timer to cancel first.
    bool ended;
    {
      absl::MutexLock lock(&mutex_);
      attempt_ = std::move(attempt);
      timer_ = timer;
      ended = end_.has_value();
    }
    if (ended) Finish();
  }

  void End(absl::Status status) {
    {
      absl::MutexLock lock(&mutex_);
      if (end_.has_value()) return;
      end_ = std::move(status);
      if (attempt_ == nullptr) return;
    }
    Finish();
  }

 private:
  // Requires: end_ is set. The first caller that finds the attempt finishes it.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_) {
    std::shared_ptr<DetachedAttempt> attempt;
    Outcome outcome;
    TimerQueue::TimerId timer;
    {
      absl::MutexLock lock(&mutex_);
      attempt = std::exchange(attempt_, nullptr);
      outcome.status = *end_;
      timer = timer_;
    }
    if (timer != 0) timers_.Cancel(timer);
    if (attempt != nullptr) attempt->Finish(std::move(outcome));
  }

  TimerQueue& timers_;
  absl::Mutex mutex_;
  std::shared_ptr<DetachedAttempt> attempt_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  TimerQueue::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

SleepAction::SleepAction(TimerQueue& timers)
    : Action("function", std::make_shared<ActionStats>("sleep")), timers_(timers) {}

std::optional<Outcome> SleepAction::Start(Attempt& attempt) {
  const Bytes payload = attempt.payload();
  const absl::StatusOr<absl::Duration> span = ParseSleep(payload.view());
  if (!span.ok()) return Outcome{span.status(), {}, {}};
  auto sleep = std::make_shared<Sleep>(timers_);
  std::shared_ptr<DetachedAttempt> detached =
      attempt.Detach([sleep](const absl::Status& reason) { sleep->End(reason); });
  sleep->Begin(std::move(detached), *span);
  return std::nullopt;
}

absl::StatusOr<absl::Duration> ParseSleep(absl::string_view payload) {
  const absl::string_view text = absl::StripAsciiWhitespace(payload);
  absl::Duration span;
  double seconds;
  if (absl::SimpleAtod(text, &seconds)) {
    span = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &span)) {
    return BadPayload("sleep", payload, "a duration such as 250ms, or a number of seconds");
  }
  // Written so that what comes of "nan" is refused too.
  if (!(span >= absl::ZeroDuration() && span <= kMaxSleep)) {
    return BadPayload("sleep", payload,
                      absl::StrCat("a duration from 0 to ", absl::FormatDuration(kMaxSleep)));
  }
  return span;
}

}  // namespace jackdaw
