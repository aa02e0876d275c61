// A million ready awaits in a loop need no stack, whatever is awaited, nor do a hundred
// thousand suspensions that wake each other. Built as the rest and once more at -O0.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/async_event.h"
#include "scheduler/async/async_mutex.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/co_task.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

constexpr int kMillion = 1'000'000;
constexpr int kHandovers = 100'000;

TEST(SyncDepthTest, AMillionPushesAndPopsThatFindRoomNeedNoStack) {
  ManualRunner runner;
  Channel<int> channel(1);
  const Future<std::int64_t> sum = Spawn(runner, [&]() -> CoTask<std::int64_t> {
    std::int64_t total = 0;
    for (int i = 0; i < kMillion; ++i) {
      const Future<void> pushing = channel.Push(1);
      (void)co_await pushing;
      const Future<int> popping = channel.Pop();
      const absl::StatusOr<int>& value = co_await popping;
      total += *value;
    }
    co_return total;
  });
  EXPECT_EQ(runner.RunAll(), 1);
  EXPECT_EQ(sum.Wait().value(), kMillion);
}

TEST(SyncDepthTest, AMillionLocksThatAreFreeNeedNoStack) {
  ManualRunner runner;
  AsyncMutex mutex;
  AsyncEvent event;
  event.Set();
  const Future<int> locked = Spawn(runner, [&]() -> CoTask<int> {
    int times = 0;
    for (int i = 0; i < kMillion; ++i) {
      Future<AsyncMutex::Guard> locking = mutex.Lock();
      const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      const Future<void> waiting = event.Wait();
      const absl::Status& set = co_await waiting;
      if (guard.ok() && set.ok()) ++times;
    }
    co_return times;
  });
  EXPECT_EQ(runner.RunAll(), 1);
  EXPECT_EQ(locked.Wait().value(), kMillion);
}

TEST(SyncDepthTest, CoroutinesThatHandOverToEachOtherNeedNoStack) {
  ManualRunner runner;
  Channel<int> channel(0);
  const Future<void> pushed = Spawn(runner, [&]() -> CoTask<void> {
    for (int i = 0; i < kHandovers; ++i) {
      const Future<void> pushing = channel.Push(i);
      (void)co_await pushing;
    }
    channel.Close();
  });
  const Future<int> popped = Spawn(runner, [&]() -> CoTask<int> {
    for (int count = 0;; ++count) {
      const Future<int> popping = channel.Pop();
      const absl::StatusOr<int>& value = co_await popping;
      if (!value.ok()) co_return count;
    }
  });
  runner.RunAll();
  EXPECT_TRUE(pushed.is_success());
  EXPECT_EQ(popped.Wait().value(), kHandovers);
}

// Each holder's end wakes the next one.
TEST(SyncDepthTest, AHundredThousandInTheLineOfALockNeedNoStack) {
  ManualRunner runner;
  AsyncMutex mutex;
  int times = 0;
  std::optional<AsyncMutex::Guard> held = mutex.TryLock();
  std::vector<Future<void>> all;
  for (int i = 0; i < kHandovers; ++i) {
    all.push_back(Spawn(runner, [&]() -> CoTask<absl::Status> {
      Future<AsyncMutex::Guard> locking = mutex.Lock();
      const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      if (guard.ok()) ++times;
      co_return guard.status();
    }));
  }
  runner.RunAll();
  EXPECT_EQ(times, 0);
  held.reset();
  runner.RunAll();
  EXPECT_EQ(times, kHandovers);
  for (const Future<void>& one : all) EXPECT_TRUE(one.is_success());
}

}  // namespace
}  // namespace jackdaw
