#include "scheduler/async/task_context.h"

#include <utility>

namespace jackdaw {
namespace {

thread_local constinit TaskContext* current = nullptr;

// What a thread has outside of any work. Made when it is first asked for.
TaskContext& OfThread() {
  thread_local TaskContext context;
  return context;
}

}  // namespace

__attribute__((noinline)) TaskContext& TaskContext::Current() {
  if (current == nullptr) current = &OfThread();
  return *current;
}

__attribute__((noinline)) TaskContext TaskContext::Inherit() {
  TaskContext context;
  if (current != nullptr) context.locals = current->locals;
  return context;
}

__attribute__((noinline)) TaskContext::Installed::Installed(TaskContext* context)
    : before_(std::exchange(current, context)) {}

__attribute__((noinline)) TaskContext::Installed::~Installed() { current = before_; }

}  // namespace jackdaw
