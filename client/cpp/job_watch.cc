#include "client/cpp/job_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/connection.h"
#include "client/cpp/convert.h"
#include "client/cpp/errors.h"

namespace jackdaw::client {

JobWatch::JobWatch(Connection* connection, std::optional<v1::RunJobRequest> run,
                   v1::WatchJobRequest watch, absl::Duration deadline)
    : connection_(connection),
      run_(std::move(run)),
      watch_(std::move(watch)),
      deadline_(deadline == absl::InfiniteDuration() ? absl::InfiniteFuture()
                                                     : absl::Now() + deadline),
      schedule_(connection->NewRetrySchedule()) {}

JobWatch::~JobWatch() {
  if (reader_ == nullptr) return;
  Cancel();
  (void)Finish();
}

absl::Status JobWatch::Open() {
  auto context = std::make_shared<grpc::ClientContext>();
  Connection::SetDeadline(*context, deadline_);
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_) return absl::CancelledError("the watch was cancelled");
    context_ = context;
  }
  reader_ = run_.has_value() ? connection_->jobs().RunJob(context.get(), *run_)
                             : connection_->jobs().WatchJob(context.get(), watch_);
  return absl::OkStatus();
}

absl::Status JobWatch::Finish() {
  const grpc::Status status = reader_->Finish();
  reader_.reset();
  absl::MutexLock lock(&mutex_);
  context_.reset();
  if (cancelled_) return absl::CancelledError("the watch was cancelled");
  return FromGrpc(status, connection_->address());
}

void JobWatch::Remember(const v1::JobEvent& event) {
  if (event.has_job()) {
    if (!event.job().name().empty()) {
      watch_.set_name(event.job().name());
      run_.reset();
    }
    done_ = IsTerminal(event.job().state()) && !event.more_follows();
  }
  if (!event.more_follows() && event.revision() > 0) watch_.set_revision(event.revision());
}

absl::StatusOr<bool> JobWatch::Next(v1::JobEvent& event) {
  while (true) {
    if (reader_ == nullptr) {
      if (done_) return false;
      if (absl::Status status = Open(); !status.ok()) return status;
    }
    if (reader_->Read(&event)) {
      schedule_.Reset();
      Remember(event);
      return true;
    }
    absl::Status status = Finish();
    if (status.ok()) {
      if (done_) return false;
      // A server that ends a stream early and calls that success: come back as after an
      // interruption.
      status = absl::UnavailableError(
          absl::StrCat(connection_->address(), " ended the watch before the job was done"));
    }
    // Terminal already: nothing is missing that another stream could tell.
    if (done_ && status.code() == absl::StatusCode::kUnavailable) return false;
    const auto wait = schedule_.Next(status, deadline_ - absl::Now());
    if (!wait.has_value()) return status;
    connection_->Wait(*wait);
  }
}

void JobWatch::Cancel() {
  std::shared_ptr<grpc::ClientContext> context;
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    context = context_;
  }
  if (context != nullptr) context->TryCancel();
}

}  // namespace jackdaw::client
