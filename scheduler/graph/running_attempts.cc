#include "scheduler/graph/running_attempts.h"

#include <utility>

namespace jackdaw {

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

std::optional<TimerQueue::TimerId> RunningAttempts::SetTimer(TaskIndex task,
                                                             TimerQueue::TimerId timer) {
  absl::MutexLock lock(&mutex_);
  auto [it, inserted] = timers_.try_emplace(task, timer);
  if (inserted) return std::nullopt;
  return std::exchange(it->second, timer);
}

std::optional<TimerQueue::TimerId> RunningAttempts::TakeTimer(TaskIndex task) {
  absl::MutexLock lock(&mutex_);
  const auto it = timers_.find(task);
  if (it == timers_.end()) return std::nullopt;
  const TimerQueue::TimerId timer = it->second;
  timers_.erase(it);
  return timer;
}

}  // namespace jackdaw
