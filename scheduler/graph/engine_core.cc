#include "scheduler/graph/engine_core.h"

#include "absl/strings/str_cat.h"
#include "scheduler/graph/job_impl.h"

namespace jackdaw {

EngineCore::EngineCore(const JobEngine::Options& options)
    : pool_(*options.pool),
      timers_(*options.timers),
      clock_(*options.clock),
      feeder_(options.pool),
      scratch_(static_cast<std::size_t>(options.pool->max_workers())),
      random_(options.seed) {}

double EngineCore::RandomFraction() {
  absl::MutexLock lock(&mutex_);
  return random_.Fraction();
}

WorkerContext* EngineCore::CurrentWorker() {
  WorkerContext* worker = WorkerContext::Current();
  return worker != nullptr && &worker->pool() == &pool_ ? worker : nullptr;
}

absl::Status EngineCore::Adopt(const std::shared_ptr<JobImpl>& job) {
  absl::MutexLock lock(&mutex_);
  if (jobs_.try_emplace(job->id(), job).second) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("job id '", job->id(), "' is in use"));
}

void EngineCore::Forget(const JobImpl& job) {
  std::shared_ptr<JobImpl> forgotten;  // Destroyed outside the lock: it may be large.
  absl::MutexLock lock(&mutex_);
  const auto it = jobs_.find(job.id());
  // A job that was refused late may find its id in use by another.
  if (it == jobs_.end() || it->second.get() != &job) return;
  forgotten = std::move(it->second);
  jobs_.erase(it);
}

std::vector<std::shared_ptr<JobImpl>> EngineCore::jobs() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<JobImpl>> jobs;
  for (const auto& [id, job] : jobs_) jobs.push_back(job);
  return jobs;
}

std::int64_t EngineCore::job_count() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<std::int64_t>(jobs_.size());
}

void EngineCore::DropQueued() {
  Task* task = nullptr;
  while (feeder_.Take(absl::MakeSpan(&task, 1)) > 0) task->Drop();
}

void EngineCore::WaitUntilNoJobs() {
  absl::MutexLock lock(&mutex_);
  const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return jobs_.empty(); };
  mutex_.Await(absl::Condition(&none));
}

}  // namespace jackdaw
