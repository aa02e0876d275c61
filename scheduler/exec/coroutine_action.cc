#include "scheduler/exec/coroutine_action.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future.h"
#include "scheduler/pool/runner.h"

namespace jackdaw {
namespace {

// What the coroutine sees: a copy of the attempt, which itself ends with Start(). Also where
// a stop and the future of the coroutine meet, whichever is there first.
class Call final : public Attempt {
 public:
  explicit Call(const Attempt& attempt)
      : job_id_(attempt.job_id()),
        task_id_(attempt.task_id()),
        number_(attempt.number()),
        payload_(attempt.payload()) {
    inputs_.reserve(attempt.input_count());
    for (std::size_t i = 0; i < attempt.input_count(); ++i) inputs_.push_back(attempt.input(i));
  }

  absl::string_view job_id() const override { return job_id_; }
  std::string task_id() const override { return task_id_; }
  int number() const override { return number_; }
  Bytes payload() const override { return payload_; }
  std::size_t input_count() const override { return inputs_.size(); }
  Bytes input(std::size_t i) const override { return inputs_.at(i); }
  bool stop_requested() const override {
    absl::MutexLock lock(&mutex_);
    return stop_reason_.has_value();
  }
  // It is detached already; there is nothing to hand out.
  std::shared_ptr<DetachedAttempt> Detach(
      std::function<void(const absl::Status& reason)>) override {
    return nullptr;
  }

  void Stop(const absl::Status& reason) {
    std::optional<Future<Bytes>> result;
    {
      absl::MutexLock lock(&mutex_);
      stop_reason_ = reason;
      result = result_;
    }
    if (result.has_value()) result->RequestCancel();
  }

  // The coroutine runs, and `result` will be what it makes.
  void SetResult(const Future<Bytes>& result) {
    bool stopped;
    {
      absl::MutexLock lock(&mutex_);
      result_ = result;
      stopped = stop_reason_.has_value();
    }
    if (stopped) result.RequestCancel();
  }

  // A coroutine that ended because it was asked to has the reason as its status.
  Outcome End(const FutureResult<Bytes>& result) {
    absl::MutexLock lock(&mutex_);
    result_.reset();
    if (result.ok()) return Outcome{absl::OkStatus(), *result, {}};
    const bool asked = absl::IsCancelled(result.status()) && stop_reason_.has_value();
    return Outcome{asked ? *stop_reason_ : result.status(), {}, {}};
  }

 private:
  const std::string job_id_;
  const std::string task_id_;
  const int number_;
  const Bytes payload_;
  std::vector<Bytes> inputs_;

  mutable absl::Mutex mutex_;
  std::optional<absl::Status> stop_reason_ ABSL_GUARDED_BY(mutex_);
  std::optional<Future<Bytes>> result_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CoroutineAction::CoroutineAction(absl::string_view name, Functions::Coroutine coroutine)
    : Action("function", std::make_shared<ActionStats>(std::string(name))),
      coroutine_(std::make_shared<const Functions::Coroutine>(std::move(coroutine))) {}

std::optional<Outcome> CoroutineAction::Start(Attempt& attempt) {
  Runner* runner = Runner::Current();
  if (runner == nullptr) {
    return Outcome{absl::FailedPreconditionError("a coroutine needs a runner's thread"), {}, {}};
  }
  auto call = std::make_shared<Call>(attempt);
  std::shared_ptr<DetachedAttempt> detached =
      attempt.Detach([call](const absl::Status& reason) { call->Stop(reason); });
  const Future<Bytes> result = Spawn(
      *runner, [call, coroutine = coroutine_]() -> CoTask<Bytes> { return (*coroutine)(*call); });
  call->SetResult(result);
  result.OnReady(
      [call, detached](const FutureResult<Bytes>& ready) { detached->Finish(call->End(ready)); });
  return std::nullopt;
}

}  // namespace jackdaw
