#include "scheduler/async/fiber_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/pool/error_edge.h"

namespace jackdaw {
namespace {

// Ids are handed to threads in blocks: one counter for all would be contended at each spawn.
constexpr std::uint64_t kIdsInBlock = 256;

// Not inlined, as every accessor of thread-locals that a coroutine may call.
__attribute__((noinline)) std::uint64_t NextId() {
  static std::atomic<std::uint64_t> next_block{1};
  thread_local constinit std::uint64_t next = 0;
  thread_local constinit std::uint64_t end = 0;
  if (next == end) {
    next = next_block.fetch_add(kIdsInBlock, std::memory_order_relaxed);
    end = next + kIdsInBlock;
  }
  return next++;
}

absl::Status FailedReason(const FiberNode& node) {
  return absl::CancelledError(absl::StrCat(node.Label(), " failed"));
}

}  // namespace

// Each holds a reference of its nodes. A node is in one such list in its life, the one of the
// thread that found it uncancelled.
struct FiberNode::Marked {
  FiberNode* first = nullptr;
  FiberNode* last = nullptr;

  void Append(FiberNode& node) {
    (last == nullptr ? first : last->next_marked_) = &node;
    last = &node;
  }
};

FiberNode::FiberNode(Runner& runner, FutureCellBase& cell, FiberTraits traits)
    : id_(NextId()), runner_(runner), cell_(cell), traits_(std::move(traits)) {
  if (traits_.on_unawaited) {
    children_awaited_ = std::make_shared<AwaitLedger>(traits_.on_unawaited);
  }
}

FiberNode::~FiberNode() {
  if (wait_ != nullptr) wait_->Drop();
}

std::string FiberNode::Label() const {
  return name().empty() ? absl::StrCat("#", id_) : absl::StrCat("#", id_, " \"", name(), "\"");
}

// ---- the tree ----

absl::Status FiberNode::Adopt(FiberNode& child) {
  absl::MutexLock lock(&mutex_);
  if (closed_) {
    return absl::FailedPreconditionError(absl::StrCat(Label(), " has ended: nothing joins it"));
  }
  if (cancelled_.load(std::memory_order_relaxed) && !child.traits_.shield) return cancel_reason_;
  if (running_ > kMaxChildren) {
    return absl::ResourceExhaustedError(
        absl::StrCat(Label(), " has ", kMaxChildren, " children, which is the limit"));
  }
  ++running_;
  if (child.traits_.daemon) ++daemons_;
  child.parent_ = this;
  child.next_ = first_child_;
  if (first_child_ != nullptr) first_child_->previous_ = &child;
  first_child_ = &child;
  if (children_awaited_ != nullptr && !child.traits_.daemon && !child.traits_.scope) {
    child.listed_in_ = children_awaited_;
    children_awaited_->Add(child.id_, child.Label());
  }
  return absl::OkStatus();
}

void FiberNode::Unlink(FiberNode& child) {
  (child.previous_ == nullptr ? first_child_ : child.previous_->next_) = child.next_;
  if (child.next_ != nullptr) child.next_->previous_ = child.previous_;
}

void FiberNode::FinishBody(absl::Status status) {
  SetPhase(Phase::kClosing);
  const bool only_cancelled = is_cancelled() && absl::IsCancelled(status);
  // While the body still counts, whose end may be that of the node.
  if (!status.ok() && !only_cancelled) Fail(std::move(status));
  EndOne();
}

void FiberNode::EndOne() {
  FiberNode* node = this;
  FiberNode* child = nullptr;
  // A loop, not a recursion: a tree may be a chain of any length.
  while (true) {
    const bool last = node->CountEnd(child);
    if (child != nullptr) child->RemoveReference();
    if (!last) return;
    const bool fails_parent = node->Resolve();
    child = node;
    node = child->parent_;
    if (node == nullptr) return child->RemoveReference();
    if (fails_parent) node->Cancel(FailedReason(*child));
  }
}

bool FiberNode::CountEnd(FiberNode* child) {
  {
    absl::MutexLock lock(&mutex_);
    if (child != nullptr) {
      Unlink(*child);
      if (child->traits_.daemon) --daemons_;
    }
    // The last one but daemons: those are told while this one still counts.
    const bool only_daemons_left = running_ - 1 == daemons_ && !closed_;
    if (only_daemons_left) closed_ = true;
    if (!only_daemons_left || daemons_ == 0) return --running_ == 0;
  }
  CancelDaemons();
  absl::MutexLock lock(&mutex_);
  return --running_ == 0;
}

void FiberNode::Note(absl::Status error) {
  absl::MutexLock lock(&mutex_);
  errors_.Add(std::move(error));
}

bool FiberNode::Resolve() {
  absl::Status failure;
  std::vector<Hook> hooks;  // They may own a handle of this very node.
  {
    absl::MutexLock lock(&mutex_);
    failure = errors_.ToStatus();
    hooks.swap(hooks_);
  }
  hooks.clear();
  SetPhase(Phase::kResolved);
  // One that was cancelled, by its own failure too, had no time to await all.
  if (children_awaited_ != nullptr && !is_cancelled()) children_awaited_->Report(Label());
  const bool fails_parent = !failure.ok() && parent_ != nullptr && !traits_.protect;
  if (fails_parent) parent_->Note(failure);
  PublishResult(std::move(failure));
  return fails_parent;
}

void FiberNode::MarkAwaited() {
  if (listed_in_ != nullptr) listed_in_->Remove(id_);
}

// ---- cancelling ----

absl::Status FiberNode::CheckCancelled() const {
  if (!is_cancelled()) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return cancel_reason_;
}

void FiberNode::Cancel(const absl::Status& reason) {
  Marked list;
  MarkInto(list, reason);
  ActOn(list);
}

void FiberNode::Fail(absl::Status error) {
  Note(std::move(error));
  Cancel(FailedReason(*this));
}

void FiberNode::CancelDaemons() {
  Marked list;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Status reason =
        absl::CancelledError(absl::StrCat("all others of ", Label(), " have ended"));
    for (FiberNode* child = first_child_; child != nullptr; child = child->next_) {
      if (child->traits_.daemon) child->MarkInto(list, reason);
    }
  }
  ActOn(list);
}

void FiberNode::MarkInto(Marked& list, const absl::Status& reason) {
  absl::MutexLock lock(&mutex_);
  if (cancelled_.load(std::memory_order_relaxed)) return;
  cancel_reason_ = reason;
  // Release: whoever sees it without the lock sees what the canceller did before.
  cancelled_.store(true, std::memory_order_release);
  // Open until the hooks have been called, however soon the rest ends now.
  holds_open_ = running_ > 0 && !hooks_.empty();
  if (holds_open_) ++running_;
  AddReference();
  list.Append(*this);
}

void FiberNode::MarkChildrenInto(Marked& list, const absl::Status& reason) {
  absl::MutexLock lock(&mutex_);
  for (FiberNode* child = first_child_; child != nullptr; child = child->next_) {
    if (!child->traits_.shield) child->MarkInto(list, reason);
  }
}

// Marks all below before it runs any hook, so that the cancel is everywhere at once.
void FiberNode::ActOn(Marked& list) {
  for (FiberNode* node = list.first; node != nullptr; node = node->next_marked_) {
    node->MarkChildrenInto(list, node->CheckCancelled());
  }
  for (FiberNode* node = list.first; node != nullptr;) {
    FiberNode* next = node->next_marked_;
    node->ActOnCancel();
    node->RemoveReference();
    node = next;
  }
}

void FiberNode::ActOnCancel() {
  MarkAwaited();
  std::vector<Hook> hooks;
  InterruptibleWait* wait = nullptr;
  bool held = false;
  {
    absl::MutexLock lock(&mutex_);
    held = holds_open_;
    if (held) hooks.swap(hooks_);
    wait = wait_;
    if (wait != nullptr) wait->Hold();
  }
  for (const Hook& hook : hooks) CallHook(hook.call);
  if (wait != nullptr) {
    wait->End();
    wait->Drop();
  }
  hooks.clear();
  if (held) EndOne();
}

void FiberNode::CallHook(const std::function<void()>& hook) const {
  ErrorEdge::Current().Guard(hook);
}

FiberNode::HookId FiberNode::AddOnCancel(std::function<void()> hook) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_ == 0) return 0;  // It is resolving.
    if (!cancelled_.load(std::memory_order_relaxed)) {
      hooks_.push_back({next_hook_, std::move(hook)});
      return next_hook_++;
    }
    ++running_;
  }
  CallHook(hook);
  hook = nullptr;
  EndOne();
  return 0;
}

bool FiberNode::RemoveOnCancel(HookId id) {
  std::function<void()> removed;  // Destroyed outside the lock.
  absl::MutexLock lock(&mutex_);
  const auto found =
      std::find_if(hooks_.begin(), hooks_.end(), [id](const Hook& hook) { return hook.id == id; });
  if (found == hooks_.end()) return false;
  removed = std::move(found->call);
  hooks_.erase(found);
  return true;
}

bool FiberNode::Suspend(CoRun& run, CoFrame& frame, FutureCellBase& future,
                        std::uint64_t fiber_id) {
  InterruptibleWait* wait = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    // From here on a canceller finds `wait_`; a cancel that came before is seen.
    if (cancelled_.load(std::memory_order_relaxed)) return false;
    if (wait_ == nullptr || !wait_->is_sole_holder()) {
      if (wait_ != nullptr) wait_->Drop();
      wait_ = new InterruptibleWait(run);
    }
    wait = wait_;
    wait->Begin();
    waits_for_ = fiber_id;
    waits_for_work_of_ = future.completer();
  }
  run.SuspendAt(frame);
  wait->Hold();  // For the future's list.
  if (!future.AddWaiter(wait)) {
    wait->Drop();
    return false;
  }
  return wait->Arm();
}

}  // namespace jackdaw
