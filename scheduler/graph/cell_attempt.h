// CellAttempt: the attempt that an action sees while a worker runs it, and what is left of it
// when the action goes on elsewhere.
//
// Thread safety: as Attempt.

#ifndef JACKDAW_SCHEDULER_GRAPH_CELL_ATTEMPT_H_
#define JACKDAW_SCHEDULER_GRAPH_CELL_ATTEMPT_H_

#include <functional>
#include <memory>
#include <string>

#include "scheduler/graph/action.h"
#include "scheduler/graph/job_impl.h"
#include "scheduler/graph/task_cell.h"

namespace jackdaw {

class CellAttempt final : public Attempt {
 public:
  // The latest attempt of `task`, which is `node`.
  CellAttempt(JobImpl& job, TaskIndex task, const TaskNode& node)
      : job_(job), node_(node), task_(task), number_(node.attempt()) {}

  [[nodiscard]] absl::string_view job_id() const override { return job_.id(); }
  [[nodiscard]] std::string task_id() const override { return job_.TaskId(task_); }
  [[nodiscard]] int number() const override { return number_; }
  [[nodiscard]] Bytes payload() const override { return job_.payload(task_); }
  [[nodiscard]] std::size_t input_count() const override {
    return job_.edges().DependenciesOf(task_).size();
  }
  [[nodiscard]] Bytes input(std::size_t i) const override;
  [[nodiscard]] bool stop_requested() const override { return node_.ShouldStop(number_); }
  [[nodiscard]] std::shared_ptr<DetachedAttempt> Detach(
      std::function<void(const absl::Status& reason)> on_stop) override;

  [[nodiscard]] bool detached() const { return detached_; }
  // Whether nobody but the worker can end the attempt.
  [[nodiscard]] bool exclusive() const {
    return !detached_ && job_.kind_of(task_).policy.attempt_timeout == absl::ZeroDuration();
  }

 private:
  JobImpl& job_;
  const TaskNode& node_;
  const TaskIndex task_;
  const int number_;
  bool detached_ = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_CELL_ATTEMPT_H_
