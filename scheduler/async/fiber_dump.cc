// The part of FiberNode that shows it to people.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/async/fiber_node.h"

namespace jackdaw {
namespace {

// Lines of one dump. What does not fit is left out, and a last line says so.
constexpr int kMaxDumpLines = 10'000;
// Deeper nodes are not indented any further, or a chain's dump would grow with its square.
constexpr std::size_t kMaxIndent = 100;

}  // namespace

std::string FiberNode::DescribeState() const {
  for (FiberNode* child = first_child_; child != nullptr; child = child->next_) {
    if (child->traits_.scope) return absl::StrCat("in ", child->Label());
  }
  switch (phase_.load(std::memory_order_relaxed)) {
    case Phase::kQueued:
      return "queued";
    case Phase::kClosing:
      return absl::StrCat("waits for its ", running_, running_ == 1 ? " child" : " children");
    case Phase::kResolved:
      return "resolved";
    case Phase::kBegun:
      break;
  }
  if (wait_ == nullptr || !wait_->is_armed()) return "running";
  if (waits_for_ != 0) return absl::StrCat("waits for #", waits_for_);
  if (waits_for_work_of_ != nullptr) {
    return absl::StrCat("waits for work of runner '", waits_for_work_of_->name(), "'");
  }
  return "waits for a future";
}

std::string FiberNode::Describe(std::vector<FiberNode*>& children) {
  absl::MutexLock lock(&mutex_);
  for (FiberNode* child = first_child_; child != nullptr; child = child->next_) {
    child->AddReference();
    children.push_back(child);
  }
  return absl::StrCat(traits_.scope ? "scope " : "", Label(), traits_.daemon ? ", daemon" : "",
                      traits_.protect && !traits_.scope ? ", protected" : "",
                      traits_.shield ? ", shielded" : "", ": ", DescribeState(),
                      is_cancelled() ? ", cancelled\n" : "\n");
}

std::string FiberNode::DumpTree() {
  struct Visit {
    FiberNode* node;  // Holds a reference.
    std::size_t depth;
  };
  AddReference();
  std::vector<Visit> left = {{this, 0}};
  std::string dump;
  int lines = 0;
  while (!left.empty()) {
    const auto [node, depth] = left.back();
    left.pop_back();
    if (++lines <= kMaxDumpLines) {
      // Newest child first in the list, so the oldest is on top here and comes next.
      std::vector<FiberNode*> children;
      const std::string line = node->Describe(children);
      absl::StrAppend(&dump, std::string(2 * std::min(depth, kMaxIndent), ' '), line);
      for (FiberNode* child : children) left.push_back({child, depth + 1});
    }
    node->RemoveReference();
  }
  if (lines > kMaxDumpLines) absl::StrAppend(&dump, "... and more\n");
  return dump;
}

}  // namespace jackdaw
