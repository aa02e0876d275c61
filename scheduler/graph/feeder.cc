#include "scheduler/graph/feeder.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "scheduler/graph/job_impl.h"

namespace jackdaw {

void Feeder::Push(JobImpl& job, absl::Span<const TaskIndex> tasks) {
  if (tasks.empty()) return;
  {
    absl::MutexLock lock(&mutex_);
    FeederEntry& entry = job.feeder_entry();
    for (const TaskIndex task : tasks) {
      entry.queue.Push(task, job.kind_of(task).policy.priority);
    }
    if (!entry.listed) {
      entry.listed = true;
      entry.deficit = 0;
      job.AddLeases(1);
      list_.push_back(&job);
      only_.store(list_.size() == 1 ? &job : nullptr, std::memory_order_relaxed);
      jobs_.store(static_cast<std::int64_t>(list_.size()), std::memory_order_relaxed);
    }
    ready_.fetch_add(static_cast<std::int64_t>(tasks.size()), std::memory_order_seq_cst);
  }
  pool_->NotifySource();
}

void Feeder::Unlist(JobImpl& job) {
  job.feeder_entry().listed = false;
  list_.erase(std::find(list_.begin(), list_.end(), &job));
  only_.store(list_.size() == 1 ? list_.front() : nullptr, std::memory_order_relaxed);
  jobs_.store(static_cast<std::int64_t>(list_.size()), std::memory_order_relaxed);
}

std::size_t Feeder::Take(absl::Span<Task*> out) {
  if (ready() == 0) return 0;
  std::size_t taken = 0;
  absl::InlinedVector<JobImpl*, 4> unlisted;
  {
    absl::MutexLock lock(&mutex_);
    std::size_t slow = 0;
    while (taken < out.size() && slow < kDealtAtOnce && !list_.empty()) {
      JobImpl& job = *list_.front();
      FeederEntry& entry = job.feeder_entry();
      if (entry.deficit <= 0) entry.deficit += entry.quantum * kQuantum;
      const std::size_t before = taken;
      while (taken < out.size() && slow < kDealtAtOnce && entry.deficit > 0 &&
             !entry.queue.empty()) {
        const TaskIndex task = entry.queue.Pop();
        if (!job.kind_of(task).instant) ++slow;
        --entry.deficit;
        out[taken++] = &job.cell(task);
      }
      job.AddLeases(static_cast<std::int64_t>(taken - before));
      if (entry.queue.empty()) {
        Unlist(job);
        unlisted.push_back(&job);
      } else if (entry.deficit <= 0 && list_.size() > 1) {
        list_.pop_front();
        list_.push_back(&job);
      }
    }
    ready_.fetch_sub(static_cast<std::int64_t>(taken), std::memory_order_seq_cst);
  }
  for (JobImpl* job : unlisted) job->DropLeases(1);
  return taken;
}

void Feeder::TakeMore(JobImpl& job, std::size_t most, std::vector<TaskIndex>& out) {
  if (ready() == 0) return;
  {
    absl::MutexLock lock(&mutex_);
    if (list_.size() != 1 || list_.front() != &job) return;
    ReadyQueue& queue = job.feeder_entry().queue;
    const auto before = static_cast<std::ptrdiff_t>(out.size());
    std::size_t count = 0;
    for (; count < most && !queue.empty() && job.kind_of(queue.Front()).instant; ++count) {
      out.push_back(queue.Pop());
    }
    // The caller runs the last one first.
    std::reverse(out.begin() + before, out.end());
    ready_.fetch_sub(static_cast<std::int64_t>(count), std::memory_order_seq_cst);
    if (!queue.empty()) return;
    Unlist(job);
  }
  job.DropLeases(1);
}

bool Feeder::OthersWait(const JobImpl& job) const {
  const std::int64_t jobs = jobs_.load(std::memory_order_relaxed);
  return jobs > 1 || (jobs == 1 && only_.load(std::memory_order_relaxed) != &job);
}

}  // namespace jackdaw
