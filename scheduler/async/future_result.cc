#include "scheduler/async/future_result.h"

#include <exception>

#include "absl/strings/str_cat.h"

namespace jackdaw {

absl::Status BrokenPromiseError() {
  return absl::AbortedError("the promise died without a result");
}

absl::Status RunnerGoneError(absl::string_view name) {
  return absl::UnavailableError(absl::StrCat("runner '", name, "' has been shut down"));
}

absl::Status CancelRequestedError() { return absl::CancelledError("cancelled on request"); }

absl::Status DroppedError(absl::string_view name) {
  return absl::CancelledError(absl::StrCat("dropped when runner '", name, "' was shut down"));
}

absl::Status NotReadyError() {
  return absl::FailedPreconditionError("the future has no result yet");
}

absl::Status NoRunnerHereError() {
  return absl::FailedPreconditionError("the calling thread works for no runner");
}

absl::Status WouldDeadlockError() {
  return absl::FailedPreconditionError(
      "Wait() on a worker of the runner that has to do the work: use co_await, Then() or "
      "ForkJoin()");
}

absl::Status StatusOfCurrentException() {
  try {
    throw;
  } catch (const std::exception& error) {
    return absl::UnknownError(error.what());
  } catch (...) {
    return absl::UnknownError("an exception that is not a std::exception");
  }
}

}  // namespace jackdaw
