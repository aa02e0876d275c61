// RetrySchedule: when to try a call again that failed with UNAVAILABLE.
//
// Thread safety: none; one per call.

#ifndef JACKDAW_CLIENT_CPP_RETRY_H_
#define JACKDAW_CLIENT_CPP_RETRY_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace jackdaw::client {

// The wait after failure n is initial_backoff * multiplier^(n - 1), at most max_backoff,
// then scaled by a random factor in [1 - jitter, 1 + jitter]; longer where the server asks
// for it.
struct RetryOptions {
  int attempts = 5;  // In all, the first included. 1: no retry.
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(5);
  double multiplier = 2;
  double jitter = 0.2;  // 0 to 1.
};

class RetrySchedule {
 public:
  RetrySchedule(const RetryOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  // The wait before the next attempt, or nullopt if the call is not worth another one: the
  // error is not UNAVAILABLE, the attempts are used up, or the wait would not end before
  // `left`, the time until the deadline.
  [[nodiscard]] std::optional<absl::Duration> Next(const absl::Status& error, absl::Duration left);

  // Forgets the failures so far: something went well.
  void Reset() { failures_ = 0; }

 private:
  double Fraction();  // Uniform in [0, 1).

  const RetryOptions options_;
  std::uint64_t seed_;
  int failures_ = 0;
};

}  // namespace jackdaw::client

#endif  // JACKDAW_CLIENT_CPP_RETRY_H_
