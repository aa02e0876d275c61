#include "scheduler/graph/cell_attempt.h"

#include <utility>
#include <vector>

#include "scheduler/graph/settler.h"

namespace jackdaw {
namespace {

class CellDetached final : public DetachedAttempt {
 public:
  CellDetached(std::shared_ptr<JobImpl> job, TaskIndex task, int number)
      : job_(std::move(job)), task_(task), number_(number) {}

  // An action that forgot its attempt would leave the task running for ever.
  ~CellDetached() override {
    Finish(Outcome{absl::InternalError("the action dropped the attempt unfinished"), {}, {}});
  }

  void Finish(Outcome outcome) override {
    const bool mine = job_->node(task_).Claim(number_);
    job_->running().RemoveDetached(task_, number_);
    if (!mine) return;
    job_->SettleElsewhere([&](Settler& settler) { settler.EndAttempt(task_, std::move(outcome)); });
  }

 private:
  const std::shared_ptr<JobImpl> job_;
  const TaskIndex task_;
  const int number_;
};

}  // namespace

Bytes CellAttempt::input(std::size_t i) const {
  const std::uint32_t place =
      job_.edges().DependenciesOf(task_).first + static_cast<std::uint32_t>(i);
  const TaskIndex dependency = job_.edges().dependency(place);
  return job_.task_state(dependency) == TaskState::kSucceeded ? job_.cell(dependency).outcome()
                                                              : Bytes();
}

std::shared_ptr<DetachedAttempt> CellAttempt::Detach(
    std::function<void(const absl::Status& reason)> on_stop) {
  detached_ = true;
  auto detached = std::make_shared<CellDetached>(job_.shared_from_this(), task_, number_);
  RunningAttempts& running = job_.running();
  running.AddDetached(task_, number_, std::move(on_stop));
  // Whoever stops attempts sets the flag before it looks for callbacks: either it finds this
  // one, or the flag is seen here.
  if (stop_requested()) {
    const bool cancelled = job_.progress().cancelling();
    running.Stop(task_, number_,
                 cancelled ? absl::CancelledError("the job is cancelled")
                           : absl::DeadlineExceededError("attempt timed out"));
  }
  return detached;
}

}  // namespace jackdaw
