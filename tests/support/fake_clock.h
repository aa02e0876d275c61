// FakeClock: a clock that stands still until a test moves it.
//
// Thread safety: every method from any thread.

#ifndef JACKDAW_TESTS_SUPPORT_FAKE_CLOCK_H_
#define JACKDAW_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "scheduler/base/clock.h"

namespace jackdaw {

class FakeClock final : public Clock {
 public:
  // Starts at an arbitrary, fixed wall time, so that what is printed can be compared.
  explicit FakeClock(absl::Time now = absl::FromUnixSeconds(1'700'000'000),
                     std::int64_t monotonic_ns = 1'000'000'000)
      : wall_ns_(absl::ToUnixNanos(now)), monotonic_ns_(monotonic_ns) {}

  [[nodiscard]] absl::Time Now() const override {
    return absl::FromUnixNanos(wall_ns_.load(std::memory_order_acquire));
  }
  [[nodiscard]] std::int64_t MonotonicNanos() const override {
    return monotonic_ns_.load(std::memory_order_acquire);
  }

  // Both times go on by `span`, which must not be negative.
  void Advance(absl::Duration span) {
    const std::int64_t span_ns = absl::ToInt64Nanoseconds(span);
    wall_ns_.fetch_add(span_ns, std::memory_order_acq_rel);
    monotonic_ns_.fetch_add(span_ns, std::memory_order_acq_rel);
  }

  // The wall time jumps, as when somebody sets the machine's clock. Monotonic time does not.
  void SetNow(absl::Time now) { wall_ns_.store(absl::ToUnixNanos(now), std::memory_order_release); }

  // Must not go back.
  void SetMonotonicNanos(std::int64_t monotonic_ns) {
    monotonic_ns_.store(monotonic_ns, std::memory_order_release);
  }

 private:
  std::atomic<std::int64_t> wall_ns_;
  std::atomic<std::int64_t> monotonic_ns_;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_FAKE_CLOCK_H_
