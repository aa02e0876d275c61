#include "scheduler/async/scope_node.h"

#include <utility>

#include "scheduler/pool/error_edge.h"

namespace jackdaw::async_internal {

void ScopeNode::AddRelease(std::function<void()> release) {
  absl::MutexLock lock(&releases_mutex_);
  releases_.push_back(std::move(release));
}

absl::Status ScopeNode::PublishResult(absl::Status failure) {
  std::vector<std::function<void()>> releases;
  {
    absl::MutexLock lock(&releases_mutex_);
    releases.swap(releases_);
  }
  for (; !releases.empty(); releases.pop_back()) ErrorEdge::Current().Guard(releases.back());
  absl::Status status = failure;
  FutureCell<void>::Resolve(std::move(failure));
  return status;
}

absl::Status ScopeSection::Enter(CoRun& run) {
  FiberNode* around = run.context().fiber;
  if (around != nullptr && !traits_.on_unawaited) traits_.on_unawaited = around->on_unawaited();
  auto* node = new ScopeNode(run.runner(), std::move(traits_));
  FutureCell<void>* cell = node;
  cell->AddReference();
  future_ = Future<void>(CellRef<void>(cell));
  if (around != nullptr) {
    absl::Status adopted = around->Adopt(*node);
    if (!adopted.ok()) {
      node->LeaveBody(absl::OkStatus());
      return adopted;
    }
  }
  run_ = &run;
  around_ = around;
  node_ = node;
  run.context().fiber = node;
  return absl::OkStatus();
}

void ScopeSection::FinishBody(absl::Status status) {
  body_left_ = true;
  node_->LeaveBody(std::move(status));
}

absl::Status ScopeSection::Leave() {
  std::exchange(run_, nullptr)->context().fiber = around_;
  return *future_.Peek();
}

ScopeSection::~ScopeSection() {
  if (run_ == nullptr) return;
  run_->context().fiber = around_;
  if (body_left_) return;
  const absl::Status reason = absl::CancelledError("the coroutine of the scope was destroyed");
  node_->Cancel(reason);
  node_->LeaveBody(reason);
}

}  // namespace jackdaw::async_internal
