// Guarded, and the check that no lock of a thread is held over a suspension.

#include "scheduler/async/guarded.h"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "scheduler/async/checked_lock.h"
#include "scheduler/async/co_task.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

TEST(GuardedTest, ReachesTheValueUnderItsLock) {
  Guarded<std::vector<int>> numbers(3, 7);
  EXPECT_EQ(numbers.With([](std::vector<int>& v) {
    v.push_back(8);
    return v.size();
  }),
            4u);
  const Guarded<std::vector<int>>& constant = numbers;
  EXPECT_EQ(constant.With([](const std::vector<int>& v) { return v.back(); }), 8);
}

TEST(GuardedTest, IsGotSetAndUpdated) {
  Guarded<std::string> text("a");
  EXPECT_EQ(text.Get(), "a");
  text.Set("b");
  text.Update([](const std::string& old) { return old + "!"; });
  EXPECT_EQ(text.Get(), "b!");
}

TEST(GuardedTest, KeepsItsValueAndUnlocksWhenAFunctionThrows) {
  Guarded<int> number(1);
  EXPECT_THROW(number.Update([](int) -> int { throw std::runtime_error("thrown"); }),
               std::runtime_error);
  EXPECT_THROW(number.With([](int& value) {
    value = 2;
    throw std::runtime_error("thrown");
  }),
               std::runtime_error);
  EXPECT_EQ(number.Get(), 2);
  EXPECT_EQ(CheckedLock::HeldHere(), 0);
}

TEST(GuardedTest, IsUsedByOneThreadAtATime) {
  Guarded<int> counter(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counter] {
      for (int j = 0; j < 10'000; ++j) counter.With([](int& value) { ++value; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Get(), 40'000);
}

TEST(CheckedLockTest, MayBeHeldBetweenSuspensions) {
  ManualRunner runner;
  absl::Mutex mutex;
  const Future<int> held = Spawn(runner, [&]() -> CoTask<int> {
    int most = 0;
    {
      const CheckedLock lock(mutex);
      most = CheckedLock::HeldHere();
    }
    co_await Yield();
    const CheckedLock lock(mutex);
    co_return most + CheckedLock::HeldHere();
  });
  runner.RunAll();
  EXPECT_EQ(held.Wait().value(), 2);
}

// What is driven inside the lock is not what holds it.
TEST(CheckedLockTest, MayBeHeldByWhoDrivesARunner) {
  ManualRunner runner;
  absl::Mutex mutex;
  const Future<void> done = Spawn(runner, []() -> CoTask<void> { co_await Yield(); });
  const CheckedLock lock(mutex);
  runner.RunAll();
  EXPECT_TRUE(done.is_success());
}

// C 34: a lock of a thread held across an await.
TEST(CheckedLockDeathTest, ThatIsHeldOverASuspensionEndsTheProgram) {
  ManualRunner runner;
  absl::Mutex mutex;
  const Future<void> held = Spawn(runner, [&]() -> CoTask<void> {
    const CheckedLock lock(mutex);
    co_await Yield();
  });
  EXPECT_DEATH(runner.RunAll(), "suspended while it held a lock of its thread");
}

}  // namespace
}  // namespace jackdaw
