#include "client/cpp/retry.h"

#include <algorithm>
#include <cmath>

#include "client/cpp/errors.h"

namespace jackdaw::client {

std::optional<absl::Duration> RetrySchedule::Next(const absl::Status& error, absl::Duration left) {
  if (error.code() != absl::StatusCode::kUnavailable) return std::nullopt;
  if (++failures_ >= options_.attempts) return std::nullopt;
  absl::Duration wait =
      std::min(options_.initial_backoff * std::pow(options_.multiplier, failures_ - 1),
               options_.max_backoff);
  wait *= 1 + options_.jitter * (2 * Fraction() - 1);
  wait = std::max(wait, RetryDelay(error).value_or(absl::ZeroDuration()));
  if (wait >= left) return std::nullopt;
  return wait;
}

// The seeding generator of xoshiro: good enough to keep clients apart.
double RetrySchedule::Fraction() {
  std::uint64_t z = (seed_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

}  // namespace jackdaw::client
