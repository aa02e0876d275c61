#include "server/job_watch.h"

#include <optional>

#include "absl/status/status.h"

namespace jackdaw {
namespace {

// Has `signal` raised when the job changes and when it is done.
//
// For the call that made the job the end is told on the worker that ended it, and the
// answer leaves from there: the queue's thread need not wake up first. Other watchers are
// told on the queue, for the job calls them from inside its own work, and they may want to
// stop watching, which is not possible there.
class Subscription {
 public:
  Subscription(const JobEntry& entry, const WatchOptions& options,
               const std::shared_ptr<Signal>& signal)
      : job_(entry.job) {
    if (options.created_here) {
      job_->OnDone([signal] { signal->Raise(Signal::kDone, Signal::Resume::kHere); });
      if (options.final_only) return;
    }
    watcher_ = job_->AddWatcher([signal, job = job_.get(), here = options.created_here] {
      const bool done = IsTerminal(job->state());
      if (done && here) return;
      signal->Raise(done ? Signal::kDone : Signal::kChanged, Signal::Resume::kOnQueue);
    });
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  ~Subscription() {
    if (watcher_.has_value()) job_->RemoveWatcher(*watcher_);
  }

 private:
  const std::shared_ptr<Job> job_;
  std::optional<Job::WatcherId> watcher_;
};

absl::Status ClientGone() { return absl::CancelledError("the client is gone"); }

}  // namespace

Rpc FollowJob(std::shared_ptr<Call> call, JobEntry entry, WatchOptions options) {
  const std::shared_ptr<Signal> signal = call->signal();
  Subscription subscription(entry, options, signal);
  JobEvents events(entry, options.runner, options.tasks, options.max_output_bytes,
                   options.revision);
  v1::JobEvent event;
  bool listening = true;
  if (options.final_only) {
    auto end = signal->Wait(Signal::kDone | Signal::kGone);
    const std::uint32_t reasons = co_await end;
    listening = (reasons & Signal::kDone) != 0;
  }
  while (listening) {
    events.BeginRound();
    while (listening && events.Next(&event)) {
      if (events.finished()) {
        auto last = call->WriteAndFinish(event);
        co_await last;
        co_return;
      }
      auto write =
          call->Write(event, event.more_follows() ? Call::Burst::kMore : Call::Burst::kLast);
      const RpcCounters::Pending pending(call->counters());
      listening = co_await write;
    }
    if (!listening) break;
    auto change = signal->Wait(Signal::kChanged | Signal::kDone | Signal::kGone);
    std::uint32_t reasons = co_await change;
    if (reasons == Signal::kChanged) {
      call->queue().After(kWatchPause,
                          [signal] { signal->Raise(Signal::kTimer, Signal::Resume::kHere); });
      auto pause = signal->Wait(Signal::kTimer | Signal::kDone | Signal::kGone);
      reasons = co_await pause;
    }
    listening = (reasons & Signal::kGone) == 0;
  }
  if (options.cancel_on_disconnect) {
    entry.job->Cancel(absl::CancelledError("the client that ran the job left"));
  }
  auto finish = call->Finish(ClientGone());
  co_await finish;
}

}  // namespace jackdaw
