// JobProgress: how far a job is. Counts of its tasks by state, its own state, its times,
// its watchers, and who waits for its end. The one place where a job's state changes.
//
// Thread safety: every method from any thread. Callbacks are called without locks.
//
// Invariants
//   (1) The counts sum to the number of tasks.
//   (2) The state is terminal if and only if the job is sealed and every task is terminal.
//       From then on nothing changes.

#ifndef JACKDAW_SCHEDULER_GRAPH_PROGRESS_H_
#define JACKDAW_SCHEDULER_GRAPH_PROGRESS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/graph/change_log.h"
#include "scheduler/graph/job.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

// What happened to tasks of one job, collected by one thread.
class ProgressDelta {
 public:
  explicit ProgressDelta(bool recording) : recording_(recording) {}

  void Changed(TaskIndex task, TaskState from, TaskState to) {
    ++left_[static_cast<std::size_t>(from)];
    ++entered_[static_cast<std::size_t>(to)];
    ++changes_;
    if (recording_) tasks_.push_back(task);
  }
  // Remembers why `task` failed, if it is the first of this delta.
  void Failed(const std::string& task_id, const absl::Status& status);

  [[nodiscard]] bool empty() const { return changes_ == 0; }
  void Clear(bool recording);

 private:
  friend class JobProgress;
  bool recording_;
  // Apart: where one array held their difference, g++ changed two neighbours by one vector
  // addition, which waits for the narrower store before it.
  std::array<std::int64_t, kTaskStateCount> entered_{};
  std::array<std::int64_t, kTaskStateCount> left_{};
  std::uint64_t changes_ = 0;
  absl::InlinedVector<TaskIndex, 8> tasks_;
  absl::Status first_failure_;
};

class JobProgress {
 public:
  // Whether watchers want to know which tasks change. A look; it may be late by one delta.
  [[nodiscard]] bool recording() const { return recording_.load(std::memory_order_relaxed); }

  // `count` new tasks, WAITING. Requires that the job is not sealed.
  void AddTasks(std::int64_t count);

  // What follows of a change, for the caller to act on once it holds no lock.
  struct Effect {
    bool done = false;       // The job ended by this very change.
    bool fail_fast = false;  // A first task failed.
  };
  // `now`: since the job's creation. The times are kept in nanoseconds.
  Effect Apply(const ProgressDelta& delta, std::int64_t now_ns);
  Effect Seal(std::int64_t now_ns);
  // Seals, and remembers why the job is cancelled. False if it is done or cancelling.
  [[nodiscard]] bool BeginCancel(absl::Status reason);
  // The first attempt of the job started.
  void Started(std::int64_t now_ns);

  [[nodiscard]] bool sealed() const { return sealed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool cancelling() const { return cancelling_.load(std::memory_order_acquire); }
  [[nodiscard]] absl::Status cancel_reason() const;
  [[nodiscard]] JobState state() const;

  // Times as nanoseconds since creation; negative: not yet.
  struct View {
    JobState state;
    absl::Status status;
    std::array<std::int64_t, kTaskStateCount> tasks;
    std::uint64_t revision;
    std::int64_t started_ns;
    std::int64_t ended_ns;
  };
  [[nodiscard]] View Read() const;

  void OnDone(std::function<void()> callback);
  void Wait();
  // Calls who waits for the end. Once, by the caller of the change whose effect said done.
  void AnnounceDone();

  Job::WatcherId AddWatcher(std::function<void()> notify);
  void RemoveWatcher(Job::WatcherId id);
  [[nodiscard]] JobChanges ChangesSince(std::uint64_t revision) const;
  // Tells the watchers that something changed.
  void Notify();

 private:
  struct Watcher {
    absl::Mutex mutex;
    std::function<void()> notify ABSL_GUARDED_BY(mutex);  // Null once removed.
  };

  // The end of the job, if this is it.
  bool TryFinish(std::int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] JobState FinalState() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The counts without the negative ones that are there while one thread's delta waits for
  // another's: a task seen to leave a state before it was seen to enter it has done both.
  [[nodiscard]] std::array<std::int64_t, kTaskStateCount> Settled() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] std::int64_t Count(TaskState state) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return counts_[static_cast<std::size_t>(state)];
  }

  // Read by every worker at every task, written once or twice in a job's life.
  std::atomic<bool> recording_{false};
  std::atomic<bool> watched_{false};
  std::atomic<bool> sealed_{false};
  std::atomic<bool> cancelling_{false};

  mutable absl::Mutex mutex_;
  JobState state_ ABSL_GUARDED_BY(mutex_) = JobState::kOpen;
  std::array<std::int64_t, kTaskStateCount> counts_ ABSL_GUARDED_BY(mutex_){};
  std::int64_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status first_failure_ ABSL_GUARDED_BY(mutex_);
  bool cut_short_ ABSL_GUARDED_BY(mutex_) = false;  // Cancelled while open: more was to come.
  absl::Status cancel_reason_ ABSL_GUARDED_BY(mutex_);
  std::int64_t started_ns_ ABSL_GUARDED_BY(mutex_) = -1;
  std::int64_t ended_ns_ ABSL_GUARDED_BY(mutex_) = -1;
  ChangeLog changes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> on_done_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<Job::WatcherId, std::shared_ptr<Watcher>>> watchers_
      ABSL_GUARDED_BY(mutex_);
  Job::WatcherId next_watcher_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_PROGRESS_H_
