#include "scheduler/graph/running_attempts.h"

#include <utility>

namespace jackdaw {
namespace {

constexpr TimerQueue::TimerId kNoTimer = 0;

}  // namespace

void RunningAttempts::AddDetached(TaskIndex task, int attempt, StopCallback on_stop) {
  absl::MutexLock lock(&mutex_);
  detached_.try_emplace({task, attempt}, std::move(on_stop));
}

void RunningAttempts::RemoveDetached(TaskIndex task, int attempt) {
  StopCallback removed;  // Destroyed outside the lock: it may own anything.
  absl::MutexLock lock(&mutex_);
  const auto it = detached_.find({task, attempt});
  if (it == detached_.end()) return;
  removed = std::move(it->second);
  detached_.erase(it);
}

bool RunningAttempts::Stop(TaskIndex task, int attempt, const absl::Status& reason) {
  StopCallback on_stop;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = detached_.find({task, attempt});
    if (it == detached_.end()) return false;
    on_stop = std::move(it->second);
    detached_.erase(it);
  }
  on_stop(reason);
  return true;
}

void RunningAttempts::StopAll(const absl::Status& reason) {
  absl::flat_hash_map<std::pair<TaskIndex, int>, StopCallback> stopped;
  {
    absl::MutexLock lock(&mutex_);
    stopped.swap(detached_);
  }
  for (auto& [attempt, on_stop] : stopped) on_stop(reason);
}

void RunningAttempts::SetTimer(TaskIndex task, TimerQueue& timers, absl::Duration wait,
                               std::function<void()> callback) {
  TimerQueue::TimerId old = kNoTimer;
  {
    absl::MutexLock lock(&mutex_);
    TimerQueue::TimerId& timer = timers_.try_emplace(task, kNoTimer).first->second;
    old = std::exchange(timer, timers.After(wait, std::move(callback)));
  }
  if (old != kNoTimer) timers.Cancel(old);
}

void RunningAttempts::StopTimer(TaskIndex task, TimerQueue& timers) {
  TimerQueue::TimerId timer = kNoTimer;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = timers_.find(task);
    if (it == timers_.end()) return;
    timer = it->second;
    timers_.erase(it);
  }
  timers.Cancel(timer);
}

}  // namespace jackdaw
