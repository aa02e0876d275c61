// FakeAttempt: an attempt without an engine, for tests of actions.
//
//   FakeAttempt attempt({.payload = "5"});
//   const Outcome outcome = attempt.Run(*action);
//
// Thread safety: Stop(), finished() and finish_count() from any thread; the rest from the
// test's own.

#ifndef JACKDAW_TESTS_SUPPORT_FAKE_ATTEMPT_H_
#define JACKDAW_TESTS_SUPPORT_FAKE_ATTEMPT_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class FakeAttempt final : public Attempt {
 public:
  struct Options {
    std::string payload = {};
    std::vector<std::string> inputs = {};
    // Stops the attempt inside Detach(), before that returns: the earliest moment there is.
    std::optional<absl::Status> stop_in_detach = {};
  };

  FakeAttempt() : FakeAttempt(Options()) {}
  explicit FakeAttempt(Options options)
      : payload_(std::move(options.payload)),
        stop_in_detach_(std::move(options.stop_in_detach)),
        core_(std::make_shared<Core>()) {
    for (std::string& input : options.inputs) inputs_.emplace_back(std::move(input));
  }

  absl::string_view job_id() const override { return "fake-job"; }
  std::string task_id() const override { return "fake-task"; }
  int number() const override { return 1; }
  Bytes payload() const override { return payload_; }
  std::size_t input_count() const override { return inputs_.size(); }
  Bytes input(std::size_t i) const override { return inputs_.at(i); }
  bool stop_requested() const override { return core_->stop_requested(); }

  std::shared_ptr<DetachedAttempt> Detach(
      std::function<void(const absl::Status& reason)> on_stop) override {
    core_->SetOnStop(std::move(on_stop));
    if (stop_in_detach_.has_value()) core_->Stop(*stop_in_detach_);
    return core_;
  }

  // Starts `action`; what it answers at once counts as finished.
  void Start(Action& action) {
    std::optional<Outcome> outcome = action.Start(*this);
    if (outcome.has_value()) core_->Finish(*std::move(outcome));
  }
  // Asks the attempt to end early, once.
  void Stop(const absl::Status& reason) { core_->Stop(reason); }
  // Waits for the outcome; DEADLINE_EXCEEDED with "no outcome" when none comes.
  Outcome Wait(absl::Duration patience = absl::Seconds(60)) { return core_->Wait(patience); }
  Outcome Run(Action& action) {
    Start(action);
    return Wait();
  }
  bool finished() const { return finish_count() > 0; }
  int finish_count() const { return core_->finish_count(); }

 private:
  class Core final : public DetachedAttempt {
   public:
    void Finish(Outcome outcome) override {
      std::function<void(const absl::Status&)> released;  // Destroyed outside the lock.
      std::lock_guard<std::mutex> lock(mutex_);
      released.swap(on_stop_);
      ++finish_count_;
      if (!outcome_.has_value()) outcome_ = std::move(outcome);
      finished_.notify_all();
    }
    void SetOnStop(std::function<void(const absl::Status&)> on_stop) {
      std::lock_guard<std::mutex> lock(mutex_);
      on_stop_ = std::move(on_stop);
    }
    void Stop(const absl::Status& reason) {
      std::function<void(const absl::Status&)> on_stop;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_requested_ = true;
        on_stop.swap(on_stop_);
      }
      if (on_stop) on_stop(reason);
    }
    Outcome Wait(absl::Duration patience) {
      std::unique_lock<std::mutex> lock(mutex_);
      if (!finished_.wait_for(lock, absl::ToChronoNanoseconds(patience),
                              [this] { return finish_count_ > 0; })) {
        return Outcome{absl::DeadlineExceededError("no outcome"), {}, {}};
      }
      return *outcome_;
    }
    int finish_count() const {
      std::lock_guard<std::mutex> lock(mutex_);
      return finish_count_;
    }
    bool stop_requested() const {
      std::lock_guard<std::mutex> lock(mutex_);
      return stop_requested_;
    }

   private:
    mutable std::mutex mutex_;
    std::condition_variable finished_;
    std::function<void(const absl::Status&)> on_stop_;
    std::optional<Outcome> outcome_;
    int finish_count_ = 0;
    bool stop_requested_ = false;
  };

  const Bytes payload_;
  std::vector<Bytes> inputs_;
  const std::optional<absl::Status> stop_in_detach_;
  const std::shared_ptr<Core> core_;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_FAKE_ATTEMPT_H_
