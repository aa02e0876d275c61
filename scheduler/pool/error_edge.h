// ErrorEdge: where exceptions that leave a user's code end. A runner has one, and its threads
// carry on behind it: what a task or a hook threw becomes an absl::Status and goes to the
// runner's `on_error`, or to standard error where there is none.
//
// Thread safety: any thread; so `on_error` may be called by several at once.

#ifndef JACKDAW_SCHEDULER_POOL_ERROR_EDGE_H_
#define JACKDAW_SCHEDULER_POOL_ERROR_EDGE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace jackdaw {

class ErrorEdge {
 public:
  // UNKNOWN, with the name of the runner and what was thrown.
  using Hook = std::function<void(const absl::Status& error)>;

  ErrorEdge(std::string runner, Hook on_error)
      : runner_(std::move(runner)), on_error_(std::move(on_error)) {}

  // Calls `body()`; what it throws ends here.
  template <typename Body>
  void Guard(Body&& body) const noexcept {
    try {
      body();
    } catch (...) {
      ReportCurrentException();
    }
  }

  // Inside a catch block: reports what was caught. What `on_error` throws in turn goes to
  // standard error.
  void ReportCurrentException() const noexcept;

  // The edge of the runner that the calling thread works for; one without a hook elsewhere.
  [[nodiscard]] static const ErrorEdge& Current();

 private:
  const std::string runner_;
  const Hook on_error_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_ERROR_EDGE_H_
