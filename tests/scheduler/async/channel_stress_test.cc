// Channel under many producers and consumers that push and pop in every way there is, cancel
// what they wait for, and are closed at a random point. Oracle: each value whose push succeeded
// comes out exactly once, or is left inside; no other value comes out; everybody gets an answer.
//
// Does not see: orderings that this machine does not show. All state changes under one lock,
// and what happens outside it is the future's, which has a model.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/guarded.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

constexpr int kProducers = 6;
constexpr int kConsumers = 5;
constexpr int kEach = 500;

class ChannelStressTest : public AtWorkerCounts {
 protected:
  using Marks = std::vector<std::atomic<int>>;

  CoTask<absl::Status> Produce(Channel<int>& channel, Marks& in, int first, std::uint64_t seed) {
    Random random(seed);
    for (int i = first; i < first + kEach; ++i) {
      int value = i;
      if (random.Below(4) == 0) {
        const Attempt attempt = channel.TryPush(value);
        if (attempt == Attempt::kClosed) co_return absl::OkStatus();
        if (attempt == Attempt::kDone) in[static_cast<std::size_t>(i)].fetch_add(1);
        continue;
      }
      Future<void> pushing = channel.Push(value);
      if (random.Below(8) == 0) pushing.RequestCancel();
      const absl::Status& pushed = co_await pushing;
      if (IsClosed(pushed)) co_return absl::OkStatus();
      if (pushed.ok()) in[static_cast<std::size_t>(i)].fetch_add(1);
      if (!pushed.ok() && !absl::IsCancelled(pushed)) co_return pushed;
    }
    co_return absl::OkStatus();
  }

  CoTask<absl::Status> Consume(Channel<int>& channel, Marks& out, std::uint64_t seed) {
    Random random(seed);
    for (;;) {
      if (random.Below(4) == 0) {
        std::optional<int> value;
        const Attempt attempt = channel.TryPop(value);
        if (attempt == Attempt::kClosed) co_return absl::OkStatus();
        if (attempt == Attempt::kDone) out[static_cast<std::size_t>(*value)].fetch_add(1);
        co_await Yield();
        continue;
      }
      const Future<int> popping = channel.Pop();
      if (random.Below(8) == 0) popping.RequestCancel();
      latest_.Set(popping);
      const absl::StatusOr<int>& popped = co_await popping;
      if (IsClosed(popped.status())) co_return absl::OkStatus();
      if (popped.ok()) out[static_cast<std::size_t>(*popped)].fetch_add(1);
      if (!popped.ok() && !absl::IsCancelled(popped.status())) co_return popped.status();
    }
  }

  // Asks what others wait for to cancel, as a time limit would, and closes in the end.
  CoTask<void> CloseAfter(Channel<int>& channel, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) {
      const Future<int> popping = latest_.Get();
      if (popping.valid()) popping.RequestCancel();
      co_await Yield();
    }
    channel.Close();
  }

  void Round(std::uint64_t seed) {
    Random random(seed);
    Channel<int> channel(random.Below(9));
    Marks in(kProducers * kEach);
    Marks out(kProducers * kEach);
    std::vector<Future<void>> all;
    for (int i = 0; i < kConsumers; ++i) {
      all.push_back(Spawn(pool_, Consume(channel, out, random.Next())));
    }
    for (int i = 0; i < kProducers; ++i) {
      all.push_back(Spawn(pool_, Produce(channel, in, i * kEach, random.Next())));
    }
    all.push_back(Spawn(pool_, CloseAfter(channel, random.Below(3 * kEach))));
    EXPECT_EQ(Settle(pool_, Barrier(all)), absl::OkStatus());
    std::optional<int> left;
    while (channel.TryPop(left) == Attempt::kDone) {
      out[static_cast<std::size_t>(*left)].fetch_add(1);
    }
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(in[i].load(), out[i].load()) << i;
  }

  Guarded<Future<int>> latest_;  // Pop that somebody began.
};

TEST_P(ChannelStressTest, EachValueThatWentInComesOutOnce) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Round(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ChannelStressTest, ::testing::Values(0, 1, 2, 8));

}  // namespace
}  // namespace jackdaw
