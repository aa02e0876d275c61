// Whatever a coroutine awaits, it goes on on the runner that it left, wherever that happens
// which it waited for. Method: its own runner is driven by hand, so that it is known to be
// suspended; what it waits for happens on a worker of another pool, on the timers' thread or
// on the watcher's. Then its runner has one task, and that resumes it.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/async_condition.h"
#include "scheduler/async/async_event.h"
#include "scheduler/async/async_mutex.h"
#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/fd_watcher.h"
#include "scheduler/async/future_any.h"
#include "scheduler/async/on.h"
#include "scheduler/base/unique_fd.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

class ResumesOnItsRunnerTest : public ::testing::Test {
 protected:
  // Awaits `future` on `home_`; `act` resolves it, on a worker of `other_`.
  template <typename T, typename Act>
  void Expect(const Future<T>& future, Act act) {
    const Future<void> awaiting = Spawn(home_, [this, future]() -> CoTask<void> {
      EXPECT_EQ(Runner::Current(), &home_);
      const FutureResult<T>& result = co_await future;
      EXPECT_TRUE(StatusOf(result).ok()) << StatusOf(result);
      EXPECT_EQ(Runner::Current(), &home_);
    });
    EXPECT_EQ(home_.RunAll(), 1);
    EXPECT_FALSE(awaiting.is_ready());
    EXPECT_EQ(Spawn(other_, act).Wait(), absl::OkStatus());
    // Woken after the coroutine, which came first.
    (void)future.Wait();
    EXPECT_EQ(home_.RunAll(), 1);
    EXPECT_TRUE(awaiting.is_success());
  }

  ManualRunner home_;
  WorkStealingPool other_{{.name = "other", .workers = 1}};
};

TEST_F(ResumesOnItsRunnerTest, FromAPromise) {
  const Promise<int> promise;
  Expect(promise.future(), [&] { promise.Fulfil(1); });
}

TEST_F(ResumesOnItsRunnerTest, FromAStepOnTheOtherRunner) {
  const Promise<int> promise;
  Expect(promise.future().Then(On(other_, [](int value) { return value; })),
         [&] { promise.Fulfil(1); });
}

TEST_F(ResumesOnItsRunnerTest, FromSeveralFutures) {
  const Promise<int> a;
  const Promise<int> b;
  Expect(WhenAll(std::vector<Future<int>>{a.future(), b.future()}), [&] {
    b.Fulfil(1);
    a.Fulfil(2);
  });
  const Promise<int> c;
  Expect(FirstSuccess(std::vector<Future<int>>{c.future()}), [&] { c.Fulfil(1); });
}

TEST_F(ResumesOnItsRunnerTest, FromBothSidesOfAChannel) {
  Channel<int> channel(0);
  Expect(channel.Pop(), [&] { (void)channel.Push(1); });
  Expect(channel.Push(2), [&] { (void)channel.Pop(); });
}

TEST_F(ResumesOnItsRunnerTest, FromASemaphoreAndAMutex) {
  AsyncSemaphore semaphore(1);
  std::optional<AsyncSemaphore::Permit> permit = semaphore.TryAcquire();
  Expect(semaphore.Acquire(), [&] { permit.reset(); });
  AsyncMutex mutex;
  std::optional<AsyncMutex::Guard> guard = mutex.TryLock();
  Expect(mutex.Lock(), [&] { guard.reset(); });
}

TEST_F(ResumesOnItsRunnerTest, FromAnEventAndACondition) {
  AsyncEvent event;
  Expect(event.Wait(), [&] { event.Set(); });
  AsyncMutex mutex;
  AsyncCondition condition;
  Expect(condition.Wait(*mutex.TryLock()), [&] { condition.NotifyOne(); });
}

TEST_F(ResumesOnItsRunnerTest, FromADescriptor) {
  FdWatcher watcher;
  std::array<int, 2> fds;
  ASSERT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd reader(fds[0]);
  const UniqueFd writer(fds[1]);
  Expect(watcher.Readable(reader.get()), [&] { EXPECT_EQ(write(writer.get(), "x", 1), 1); });
}

TEST_F(ResumesOnItsRunnerTest, FromATimer) {
  TimerQueue timers;
  AsyncEvent started;
  Expect(started.Wait().Then([&] { return Delay(timers, absl::Milliseconds(1)); }),
         [&] { started.Set(); });
}

// The same with two real pools that hand values to each other.
TEST(TwoPoolsTest, EachSideOfAChannelStaysOnItsPool) {
  WorkStealingPool left({.name = "left", .workers = 2});
  WorkStealingPool right({.name = "right", .workers = 2});
  Channel<int> there(2);
  Channel<int> back(2);
  const Future<int> answered = Spawn(left, [&]() -> CoTask<int> {
    int sum = 0;
    for (int i = 0; i < 1000; ++i) {
      const Future<void> pushing = there.Push(i);
      (void)co_await pushing;
      const Future<int> popping = back.Pop();
      const absl::StatusOr<int>& answer = co_await popping;
      EXPECT_EQ(Runner::Current(), &left);
      sum += *answer;
    }
    there.Close();
    co_return sum;
  });
  const Future<void> served = Spawn(right, [&]() -> CoTask<void> {
    for (;;) {
      const Future<int> popping = there.Pop();
      const absl::StatusOr<int>& question = co_await popping;
      EXPECT_EQ(Runner::Current(), &right);
      if (!question.ok()) co_return;
      const Future<void> pushing = back.Push(2 * *question);
      (void)co_await pushing;
    }
  });
  EXPECT_EQ(answered.Wait().value(), 999'000);
  EXPECT_EQ(served.Wait(), absl::OkStatus());
}

}  // namespace
}  // namespace jackdaw
