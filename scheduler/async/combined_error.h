// CombinedError: several failures as one status. The first is the primary one: it gives the
// code and the payloads; the others are told in its message, as far as the limits go. Equal ones
// count once: mostly it is one failure that was passed on, by a parent whose child it came from.
//
// Thread safety: none.

#ifndef JACKDAW_SCHEDULER_ASYNC_COMBINED_ERROR_H_
#define JACKDAW_SCHEDULER_ASYNC_COMBINED_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace jackdaw {

class CombinedError {
 public:
  // Errors that are kept, the primary one included; the rest are counted.
  static constexpr std::size_t kMaxKept = 8;
  // Of the message of an error other than the primary one, this much is told.
  static constexpr std::size_t kMaxMessageBytes = 256;

  // Requires: not ok.
  void Add(absl::Status error);
  [[nodiscard]] bool empty() const { return kept_.empty(); }

  // OK where there was none; one alone as it came; else as
  //   NOT_FOUND: no such page (and 2 more: UNKNOWN: thrown; ABORTED: gone)
  [[nodiscard]] absl::Status ToStatus() const;

 private:
  std::vector<absl::Status> kept_;
  std::int64_t dropped_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_COMBINED_ERROR_H_
