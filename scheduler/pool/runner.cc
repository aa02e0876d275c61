#include "scheduler/pool/runner.h"

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

struct ThisThread {
  Runner* runner;
  const ErrorEdge* edge;
};
thread_local constinit ThisThread this_thread = {nullptr, nullptr};

}  // namespace

// Not inlined, so that a coroutine which changed threads cannot see its old runner.
__attribute__((noinline)) Runner* Runner::Current() { return this_thread.runner; }

__attribute__((noinline)) const ErrorEdge& ErrorEdge::Current() {
  static const auto* const no_hook = new ErrorEdge("(none)", nullptr);
  return this_thread.edge == nullptr ? *no_hook : *this_thread.edge;
}

__attribute__((noinline)) Runner::AsCurrent::AsCurrent(Runner* runner, const ErrorEdge* edge)
    : runner_before_(this_thread.runner), edge_before_(this_thread.edge) {
  this_thread = {runner, edge};
}

__attribute__((noinline)) Runner::AsCurrent::~AsCurrent() {
  this_thread = {runner_before_, edge_before_};
}

absl::Status Runner::ShutdownError() const {
  return absl::UnavailableError(absl::StrCat("runner '", name(), "' has been shut down"));
}

}  // namespace jackdaw
