#include "scheduler/graph/engine.h"

#include <utility>

#include "scheduler/graph/engine_core.h"
#include "scheduler/graph/job_impl.h"

namespace jackdaw {

JobEngine::JobEngine(Options options) : core_(std::make_shared<EngineCore>(options)) {
  core_->pool().AttachSource(&core_->feeder());
}

JobEngine::~JobEngine() {
  core_->DropQueued();
  core_->WaitUntilNoJobs();
  core_->pool().DetachSource();
}

absl::StatusOr<std::shared_ptr<Job>> JobEngine::Create(JobOptions options, TaskBatch batch,
                                                       bool seal) {
  auto job = std::make_shared<JobImpl>(core_, std::move(options));
  if (absl::Status status = core_->Adopt(job); !status.ok()) return status;
  if (absl::StatusOr<TaskIndex> first = job->Add(std::move(batch)); !first.ok()) {
    core_->Forget(*job);
    return first.status();
  }
  job->ArmJobTimeout();
  if (seal) job->Close();
  return job;
}

void JobEngine::CancelAll(const absl::Status& reason) {
  for (const auto& job : core_->jobs()) job->Cancel(reason);
}

JobEngine::Stats JobEngine::stats() const {
  return Stats{core_->job_count(), core_->feeder().ready()};
}

}  // namespace jackdaw
