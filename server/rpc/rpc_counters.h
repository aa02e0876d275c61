// RpcCounters: how many calls of each method ended with each code. For the metrics.
//
// Thread safety: AddMethods() before any call; the rest from any thread.

#ifndef JACKDAW_SERVER_RPC_RPC_COUNTERS_H_
#define JACKDAW_SERVER_RPC_RPC_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"

namespace jackdaw {

class RpcCounters {
 public:
  static constexpr int kCodes = 17;  // OK to UNAUTHENTICATED.

  struct Method {
    explicit Method(std::string n) : name(std::move(n)) {}
    void Count(absl::StatusCode code) {
      const auto i = static_cast<std::size_t>(code);
      ended[i < kCodes ? i : static_cast<std::size_t>(absl::StatusCode::kUnknown)].fetch_add(
          1, std::memory_order_relaxed);
    }
    const std::string name;  // `jackdaw.v1.JobService/GetJob`.
    std::array<std::atomic<std::int64_t>, kCodes> ended{};
    std::atomic<std::int64_t> active{0};  // Streams under way; unary calls end at once.
  };

  // Stays where it is.
  Method& AddMethod(std::string name) { return methods_.emplace_back(std::move(name)); }

  [[nodiscard]] const std::deque<Method>& methods() const { return methods_; }

 private:
  std::deque<Method> methods_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_RPC_COUNTERS_H_
