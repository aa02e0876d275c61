#include "scheduler/graph/progress.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace jackdaw {

void ProgressDelta::Failed(const std::string& task_id, const absl::Status& status) {
  if (!first_failure_.ok()) return;
  first_failure_ =
      absl::Status(status.code(), absl::StrCat("task '", task_id, "' failed: ", status.message()));
}

void ProgressDelta::Clear(bool recording) {
  recording_ = recording;
  entered_.fill(0);
  left_.fill(0);
  changes_ = 0;
  tasks_.clear();
  first_failure_ = absl::OkStatus();
}

void JobProgress::AddTasks(std::int64_t count) {
  absl::MutexLock lock(&mutex_);
  counts_[static_cast<std::size_t>(TaskState::kWaiting)] += count;
  unfinished_ += count;
  if (count > 0) changes_.AddJobChange();
}

JobProgress::Effect JobProgress::Apply(const ProgressDelta& delta, std::int64_t now_ns) {
  Effect effect;
  {
    absl::MutexLock lock(&mutex_);
    std::int64_t ended = 0;
    for (std::size_t i = 0; i < kTaskStateCount; ++i) {
      counts_[i] += delta.entered_[i] - delta.left_[i];
      if (IsTerminal(static_cast<TaskState>(i))) ended += delta.entered_[i];
    }
    unfinished_ -= ended;
    // Only steps on the way to ends that were told already.
    if (IsTerminal(state_)) return effect;
    changes_.Add(delta.changes_, delta.tasks_);
    if (first_failure_.ok() && !delta.first_failure_.ok()) {
      first_failure_ = delta.first_failure_;
      effect.fail_fast = true;
    }
    effect.done = TryFinish(now_ns);
  }
  if (watched_.load(std::memory_order_relaxed)) Notify();
  return effect;
}

JobProgress::Effect JobProgress::Seal(std::int64_t now_ns) {
  Effect effect;
  {
    absl::MutexLock lock(&mutex_);
    if (sealed()) return effect;
    sealed_.store(true, std::memory_order_release);
    if (state_ == JobState::kOpen) state_ = JobState::kRunning;
    changes_.AddJobChange();
    effect.done = TryFinish(now_ns);
  }
  if (watched_.load(std::memory_order_relaxed)) Notify();
  return effect;
}

bool JobProgress::BeginCancel(absl::Status reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (state_ == JobState::kCancelling || IsTerminal(state_)) return false;
    state_ = JobState::kCancelling;
    cut_short_ = !sealed();
    cancel_reason_ = std::move(reason);
    sealed_.store(true, std::memory_order_release);
    cancelling_.store(true, std::memory_order_release);
    changes_.AddJobChange();
  }
  Notify();
  return true;
}

void JobProgress::Started(std::int64_t now_ns) {
  absl::MutexLock lock(&mutex_);
  if (started_ns_ < 0 || now_ns < started_ns_) started_ns_ = now_ns;
}

bool JobProgress::TryFinish(std::int64_t now_ns) {
  if (!sealed() || unfinished_ != 0 || IsTerminal(state_)) return false;
  state_ = FinalState();
  ended_ns_ = now_ns;
  changes_.AddJobChange();
  return true;
}

JobState JobProgress::FinalState() const {
  const bool some_cancelled = cut_short_ || Count(TaskState::kCancelled) > 0;
  if (some_cancelled && cancel_reason_.code() == absl::StatusCode::kCancelled) {
    return JobState::kCancelled;
  }
  if (some_cancelled && !cancel_reason_.ok()) return JobState::kFailed;
  if (Count(TaskState::kFailed) > 0) return JobState::kFailed;
  return some_cancelled ? JobState::kCancelled : JobState::kSucceeded;
}

absl::Status JobProgress::cancel_reason() const {
  absl::MutexLock lock(&mutex_);
  return cancel_reason_;
}

JobState JobProgress::state() const {
  absl::MutexLock lock(&mutex_);
  return state_;
}

std::array<std::int64_t, kTaskStateCount> JobProgress::Settled() const {
  std::array<std::int64_t, kTaskStateCount> counts = counts_;
  for (std::int64_t& missing : counts) {
    for (std::int64_t& count : counts) {
      if (missing >= 0) break;
      if (count <= 0) continue;
      const std::int64_t moved = std::min(count, -missing);
      count -= moved;
      missing += moved;
    }
  }
  return counts;
}

JobProgress::View JobProgress::Read() const {
  absl::MutexLock lock(&mutex_);
  View view{state_, absl::OkStatus(), Settled(), changes_.revision(), started_ns_, ended_ns_};
  const bool stopped = state_ == JobState::kCancelling || state_ == JobState::kCancelled;
  if (stopped || (state_ == JobState::kFailed && first_failure_.ok())) {
    view.status = cancel_reason_;
  } else if (state_ == JobState::kFailed) {
    view.status = first_failure_;
  }
  return view;
}

void JobProgress::OnDone(std::function<void()> callback) {
  {
    absl::MutexLock lock(&mutex_);
    if (!IsTerminal(state_)) {
      on_done_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void JobProgress::Wait() {
  absl::MutexLock lock(&mutex_);
  const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return IsTerminal(state_); };
  mutex_.Await(absl::Condition(&done));
}

void JobProgress::AnnounceDone() {
  std::vector<std::function<void()>> callbacks;
  {
    absl::MutexLock lock(&mutex_);
    callbacks.swap(on_done_);
  }
  for (const auto& callback : callbacks) callback();
}

Job::WatcherId JobProgress::AddWatcher(std::function<void()> notify) {
  auto watcher = std::make_shared<Watcher>();
  {
    absl::MutexLock lock(&watcher->mutex);
    watcher->notify = std::move(notify);
  }
  absl::MutexLock lock(&mutex_);
  changes_.StartRecording();
  recording_.store(true, std::memory_order_relaxed);
  watched_.store(true, std::memory_order_relaxed);
  watchers_.emplace_back(next_watcher_, std::move(watcher));
  return next_watcher_++;
}

void JobProgress::RemoveWatcher(Job::WatcherId id) {
  std::shared_ptr<Watcher> removed;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = std::find_if(watchers_.begin(), watchers_.end(),
                                 [id](const auto& entry) { return entry.first == id; });
    if (it == watchers_.end()) return;
    removed = std::move(it->second);
    watchers_.erase(it);
    watched_.store(!watchers_.empty(), std::memory_order_relaxed);
  }
  absl::MutexLock lock(&removed->mutex);
  removed->notify = nullptr;
}

JobChanges JobProgress::ChangesSince(std::uint64_t revision) const {
  absl::MutexLock lock(&mutex_);
  return changes_.Since(revision);
}

void JobProgress::Notify() {
  absl::InlinedVector<std::shared_ptr<Watcher>, 4> watchers;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, watcher] : watchers_) watchers.push_back(watcher);
  }
  for (const auto& watcher : watchers) {
    absl::MutexLock lock(&watcher->mutex);
    if (watcher->notify) watcher->notify();
  }
}

}  // namespace jackdaw
