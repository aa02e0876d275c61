#include "scheduler/async/this_fiber.h"

#include <cstdio>
#include <cstdlib>

#include "scheduler/async/task_context.h"

namespace jackdaw {

absl::Status CheckCancelled() {
  const FiberNode* node = TaskContext::Current().fiber;
  return node == nullptr ? absl::OkStatus() : node->CheckCancelled();
}

bool ThisFiber::exists() { return TaskContext::Current().fiber != nullptr; }

FiberNode& ThisFiber::Node() {
  FiberNode* node = TaskContext::Current().fiber;
  if (node == nullptr) {
    std::fputs("the calling code is no fiber: start one with SpawnFiber()\n", stderr);
    std::abort();
  }
  return *node;
}

std::string ThisFiber::DumpTree() {
  // No ancestor can resolve before the caller has.
  FiberNode* root = &Node();
  while (root->parent() != nullptr) root = root->parent();
  return root->DumpTree();
}

}  // namespace jackdaw
