// RpcCounters: how many calls of each method ended with each code, how many streams are under
// way, and how many messages wait for clients to take them. For the metrics.
//
// Thread safety: AddMethods() before any call; the rest from any thread.

#ifndef JACKDAW_SERVER_RPC_RPC_COUNTERS_H_
#define JACKDAW_SERVER_RPC_RPC_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace jackdaw {

class RpcCounters {
 public:
  static constexpr int kCodes = 17;  // OK to UNAUTHENTICATED.

  enum class Kind { kUnary, kStream };

  struct Method {
    Method(std::string n, Kind k) : name(std::move(n)), kind(k) {}
    void Count(absl::StatusCode code) {
      const auto i = static_cast<std::size_t>(code);
      ended[i < kCodes ? i : static_cast<std::size_t>(absl::StatusCode::kUnknown)].fetch_add(
          1, std::memory_order_relaxed);
    }
    const std::string name;  // `jackdaw.v1.JobService/GetJob`.
    const Kind kind;
    std::array<std::atomic<std::int64_t>, kCodes> ended{};
    // Of streams; unary calls end at once.
    std::atomic<std::int64_t> streams{0};
    std::atomic<std::int64_t> pending_messages{0};
  };

  // Counts a message that gRPC has and that its client has no room for yet.
  class Pending {
   public:
    explicit Pending(Method& method) : method_(method) {
      method_.pending_messages.fetch_add(1, std::memory_order_relaxed);
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() { method_.pending_messages.fetch_sub(1, std::memory_order_relaxed); }

   private:
    Method& method_;
  };

  // Stays where it is.
  Method& AddMethod(std::string name, Kind kind) {
    return methods_.emplace_back(std::move(name), kind);
  }

  [[nodiscard]] const std::deque<Method>& methods() const { return methods_; }

 private:
  std::deque<Method> methods_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_RPC_COUNTERS_H_
