// OutputCapture: what a process wrote, up to a limit, and how much there was in all.
//
// Thread safety: none; the reactor's thread.

#ifndef JACKDAW_SCHEDULER_EXEC_OUTPUT_CAPTURE_H_
#define JACKDAW_SCHEDULER_EXEC_OUTPUT_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace jackdaw {

class OutputCapture {
 public:
  // Keeps the first `limit` bytes (0 or more) and counts the rest.
  explicit OutputCapture(std::int64_t limit) : limit_(static_cast<std::size_t>(limit)) {}

  void Append(absl::string_view data);

  enum class Read { kMore, kEnd };
  // Reads what a nonblocking `fd` has now, through `buffer`, but a bounded amount, so that
  // one chatty process does not keep the others waiting. kEnd: nobody can write any more.
  Read ReadFrom(int fd, absl::Span<char> buffer);

  [[nodiscard]] std::int64_t total_bytes() const;  // Written so far, kept or not.
  [[nodiscard]] std::int64_t dropped_bytes() const { return dropped_; }

  // The last line that is not blank, also of what was not kept. Long ones lose their start.
  [[nodiscard]] absl::string_view LastLine() const;

  // Hands over what was kept.
  [[nodiscard]] std::string Take();

 private:
  static constexpr std::size_t kTailBytes = 1024;

  const std::size_t limit_;
  std::string kept_;
  std::int64_t dropped_ = 0;
  std::string tail_;  // The end of what was dropped; at most twice kTailBytes.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_OUTPUT_CAPTURE_H_
