// What the tests of the graph share: an engine at a number of workers, actions made of
// lambdas, and batches built task by task.

#ifndef JACKDAW_TESTS_SCHEDULER_GRAPH_GRAPH_FIXTURE_H_
#define JACKDAW_TESTS_SCHEDULER_GRAPH_GRAPH_FIXTURE_H_

#include <sched.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/graph/action.h"
#include "scheduler/graph/batch.h"
#include "scheduler/graph/concurrency_limit.h"
#include "scheduler/graph/engine.h"
#include "scheduler/graph/job.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {

class LambdaAction final : public Action {
 public:
  using Body = std::function<std::optional<Outcome>(Attempt&)>;
  struct Options {
    bool instant = false;
    ConcurrencyLimit* limit = nullptr;
  };
  LambdaAction(Body body, Options options)
      : Action("function", std::make_shared<ActionStats>("lambda")),
        body_(std::move(body)),
        options_(options) {}
  std::optional<Outcome> Start(Attempt& attempt) override { return body_(attempt); }
  bool instant() const override { return options_.instant; }
  ConcurrencyLimit* concurrency_limit() const override { return options_.limit; }

 private:
  const Body body_;
  const Options options_;
};

inline std::shared_ptr<Action> MakeAction(LambdaAction::Body body,
                                          LambdaAction::Options options = {}) {
  return std::make_shared<LambdaAction>(std::move(body), options);
}
inline Outcome Ok(std::string output = "") { return {absl::OkStatus(), Bytes(output), {}}; }
inline Outcome Failure(absl::Status status) { return {std::move(status), {}, {}}; }
inline std::shared_ptr<Action> Noop(LambdaAction::Options options = {}) {
  return MakeAction([](Attempt&) { return Ok(); }, options);
}

// Builds a batch; Task() returns the position. Dependencies as TaskBatch has them.
class BatchBuilder {
 public:
  std::uint32_t Kind(std::shared_ptr<Action> action, TaskPolicy policy = {}) {
    batch_.kinds.push_back({std::move(action), std::move(policy)});
    return static_cast<std::uint32_t>(batch_.kinds.size() - 1);
  }
  std::uint32_t Task(std::uint32_t kind, const std::vector<std::uint32_t>& dependencies = {}) {
    batch_.kind.push_back(kind);
    batch_.dependency_count.push_back(static_cast<std::uint32_t>(dependencies.size()));
    batch_.dependencies.insert(batch_.dependencies.end(), dependencies.begin(), dependencies.end());
    return TaskBatch::InBatch(static_cast<std::uint32_t>(batch_.kind.size() - 1));
  }
  std::uint32_t Task(std::shared_ptr<Action> action, TaskPolicy policy = {},
                     const std::vector<std::uint32_t>& dependencies = {}) {
    return Task(Kind(std::move(action), std::move(policy)), dependencies);
  }
  TaskBatch& batch() { return batch_; }
  TaskBatch Take() { return std::move(batch_); }

 private:
  TaskBatch batch_;
};

// An engine on a clock that the test moves.
class EngineHarness {
 public:
  explicit EngineHarness(int workers)
      : pool_({.workers = workers}),
        timers_(&clock_, TimerQueue::Drive::kManual),
        engine_(std::make_unique<JobEngine>(
            JobEngine::Options{.pool = &pool_, .timers = &timers_, .clock = &clock_})) {}
  ~EngineHarness() {
    if (engine_ == nullptr) return;
    engine_->CancelAll(absl::CancelledError("the test ends"));
    if (pool_.size() == 0) pool_.RunUntilIdle();
  }

  std::shared_ptr<Job> Create(TaskBatch batch, bool seal = true, JobOptions options = {}) {
    if (options.id.empty()) options.id = std::to_string(++jobs_);
    auto job = engine_->Create(std::move(options), std::move(batch), seal);
    EXPECT_TRUE(job.ok()) << job.status();
    return *job;
  }
  // Runs until `done()`. A hang is ended by the test's time limit.
  void Until(const std::function<bool()>& done) {
    while (!done()) {
      if (pool_.size() == 0 && pool_.RunOne()) continue;
      sched_yield();
    }
  }
  void UntilDone(Job& job) {
    Until([&] { return IsTerminal(job.state()); });
  }
  void Advance(absl::Duration span) {
    clock_.Advance(span);
    timers_.RunDue();
  }

  WorkStealingPool& pool() { return pool_; }
  TimerQueue& timers() { return timers_; }
  FakeClock& clock() { return clock_; }
  JobEngine& engine() { return *engine_; }
  void DestroyEngine() { engine_.reset(); }

 private:
  FakeClock clock_;
  WorkStealingPool pool_;
  TimerQueue timers_;
  std::unique_ptr<JobEngine> engine_;
  int jobs_ = 0;
};

class GraphTestBase : public testing::TestWithParam<int> {
 protected:
  EngineHarness h{GetParam()};
};

inline std::string WorkersName(const testing::TestParamInfo<int>& info) {
  return std::to_string(info.param) + "Workers";
}

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_GRAPH_GRAPH_FIXTURE_H_
