#include "scheduler/async/scope_node.h"

#include <iterator>
#include <utility>

#include "scheduler/pool/error_edge.h"

namespace jackdaw::async_internal {

FiberNode::HookId ScopeNode::AddRelease(std::function<void()> release) {
  absl::MutexLock lock(&releases_mutex_);
  releases_.emplace_hint(releases_.end(), ++last_release_, std::move(release));
  return last_release_;
}

bool ScopeNode::RemoveRelease(HookId id) {
  std::map<HookId, std::function<void()>>::node_type removed;  // Destroyed outside the lock.
  absl::MutexLock lock(&releases_mutex_);
  removed = releases_.extract(id);
  return !removed.empty();
}

std::function<void()> ScopeNode::TakeRelease() {
  absl::MutexLock lock(&releases_mutex_);
  if (releases_.empty()) return nullptr;
  return std::move(releases_.extract(std::prev(releases_.end())).mapped());
}

void ScopeNode::PublishResult(absl::Status failure) {
  while (const std::function<void()> release = TakeRelease()) ErrorEdge::Current().Guard(release);
  FutureCell<void>::Resolve(std::move(failure));
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
  outer_ = run.EnterSection(*this);
  run.context().fiber = node;
  return absl::OkStatus();
}

void ScopeSection::FinishBody(absl::Status status) {
  body_left_ = true;
  node_->LeaveBody(std::move(status));
}

absl::Status ScopeSection::Leave() {
  run_->LeaveSection(outer_);
  std::exchange(run_, nullptr)->context().fiber = around_;
  return *future_.Peek();
}

bool ScopeSection::Abandon(const absl::Status& reason, Waiter* waiter) {
  if (!body_left_) {
    node_->Cancel(absl::CancelledError(reason.message()));
    FinishBody(reason);
  }
  if (future_.cell()->AddWaiter(waiter)) return true;
  (void)Leave();
  return false;
}

ScopeSection::~ScopeSection() {
  if (run_ == nullptr) return;
  if (!body_left_) {
    const absl::Status reason = absl::CancelledError("the coroutine of the scope was destroyed");
    node_->Cancel(reason);
    FinishBody(reason);
  }
  run_->LeaveSection(outer_);
  run_->context().fiber = around_;
}

}  // namespace jackdaw::async_internal
