#include "scheduler/exec/output_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"

namespace jackdaw {

void OutputCapture::Append(absl::string_view data) {
  const std::size_t kept = std::min(data.size(), limit_ - kept_.size());
  kept_.append(data.data(), kept);
  data.remove_prefix(kept);
  if (data.empty()) return;
  dropped_ += static_cast<std::int64_t>(data.size());
  if (data.size() > kTailBytes) data.remove_prefix(data.size() - kTailBytes);
  if (tail_.size() + data.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  tail_.append(data.data(), data.size());
}

OutputCapture::Read OutputCapture::ReadFrom(int fd, absl::Span<char> buffer) {
  constexpr int kReadsPerTurn = 4;
  for (int i = 0; i < kReadsPerTurn;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n > 0) {
      Append(absl::string_view(buffer.data(), static_cast<std::size_t>(n)));
      // A short read emptied the pipe; ask again only when epoll says so.
      if (static_cast<std::size_t>(n) < buffer.size()) return Read::kMore;
      ++i;
    } else if (n == 0) {
      return Read::kEnd;
    } else if (errno != EINTR) {
      return errno == EAGAIN ? Read::kMore : Read::kEnd;
    }
  }
  return Read::kMore;
}

std::int64_t OutputCapture::total_bytes() const {
  return static_cast<std::int64_t>(kept_.size()) + dropped_;
}

absl::string_view OutputCapture::LastLine() const {
  absl::string_view text = tail_.empty() ? kept_ : tail_;
  if (text.size() > kTailBytes) text.remove_prefix(text.size() - kTailBytes);
  text = absl::StripTrailingAsciiWhitespace(text);
  const std::size_t newline = text.find_last_of("\n\r");
  if (newline != absl::string_view::npos) text.remove_prefix(newline + 1);
  return absl::StripLeadingAsciiWhitespace(text);
}

std::string OutputCapture::Take() {
  // Growth by doubling may have left half of it unused, and an output may be kept for days.
  constexpr std::size_t kWorthShrinking = 4096;
  if (kept_.capacity() - kept_.size() > kWorthShrinking) kept_.shrink_to_fit();
  return std::exchange(kept_, std::string());
}

}  // namespace jackdaw
