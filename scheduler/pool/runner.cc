#include "scheduler/pool/runner.h"

#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

thread_local Runner* current_runner = nullptr;

}  // namespace

// Not inlined, so that a coroutine which changed threads cannot see its old runner.
__attribute__((noinline)) Runner* Runner::Current() { return current_runner; }

__attribute__((noinline)) void Runner::SetCurrent(Runner* runner) { current_runner = runner; }

absl::Status Runner::ShutdownError() const {
  return absl::UnavailableError(absl::StrCat("runner '", name(), "' has been shut down"));
}

}  // namespace jackdaw
