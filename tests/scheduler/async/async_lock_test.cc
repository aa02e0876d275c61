// AsyncSemaphore, AsyncMutex, AsyncEvent and AsyncCondition: by hand on one thread, where each
// turn shows; and with coroutines at 0, 1, 2 and 8 workers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/async_condition.h"
#include "scheduler/async/async_event.h"
#include "scheduler/async/async_mutex.h"
#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future_combine.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

using Permit = AsyncSemaphore::Permit;

// What a future that was granted holds, taken out of it.
Permit Granted(Future<Permit>& future) {
  EXPECT_TRUE(future.is_success());
  return *std::move(future).Take();
}

TEST(AsyncSemaphoreTest, GivesUnitsWhileThereAreAnyAndTakesThemBack) {
  AsyncSemaphore semaphore(2);
  Future<Permit> first = semaphore.Acquire();
  Future<Permit> second = semaphore.Acquire();
  Future<Permit> third = semaphore.Acquire();
  EXPECT_TRUE(second.is_success());
  EXPECT_FALSE(third.is_ready());
  EXPECT_EQ(semaphore.available(), 0);
  EXPECT_EQ(semaphore.waiting(), 1u);
  { const Permit permit = Granted(first); }
  ASSERT_TRUE(third.is_success());
  EXPECT_EQ(semaphore.available(), 0);
  third = Future<Permit>();
  second = Future<Permit>();
  EXPECT_EQ(semaphore.available(), 2);
}

TEST(AsyncSemaphoreTest, ALargeRequestIsNotOvertaken) {
  AsyncSemaphore semaphore(4);
  std::optional<Permit> held = semaphore.TryAcquire(3);
  ASSERT_TRUE(held.has_value());
  Future<Permit> large = semaphore.Acquire(2);
  Future<Permit> small = semaphore.Acquire(1);
  EXPECT_FALSE(small.is_ready());
  EXPECT_FALSE(semaphore.TryAcquire(1).has_value());
  EXPECT_EQ(semaphore.available(), 1);
  held->Release();
  EXPECT_EQ(held->units(), 0);
  EXPECT_EQ(Granted(large).units(), 2);
  EXPECT_TRUE(small.is_success());
}

TEST(AsyncSemaphoreTest, ACancelOfTheLargeOneInFrontLetsTheOthersIn) {
  AsyncSemaphore semaphore(2);
  std::optional<Permit> held = semaphore.TryAcquire(1);
  Future<Permit> large = semaphore.Acquire(2);
  Future<Permit> small = semaphore.Acquire(1);
  large.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(large.PeekOrError().status()));
  EXPECT_TRUE(small.is_success());
}

TEST(AsyncSemaphoreTest, ACancelAfterTheTurnLeavesThePermit) {
  AsyncSemaphore semaphore(1);
  Future<Permit> granted = semaphore.Acquire();
  granted.RequestCancel();
  EXPECT_EQ(Granted(granted).units(), 1);
  EXPECT_EQ(semaphore.available(), 1);
}

TEST(AsyncSemaphoreTest, ImpossibleRequestsFailAtOnce) {
  AsyncSemaphore semaphore(2);
  for (const std::int64_t units : {-1, 0, 3}) {
    EXPECT_EQ(semaphore.Acquire(units).PeekOrError().status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(semaphore.TryAcquire(units).has_value());
  }
  EXPECT_EQ(semaphore.available(), 2);
}

TEST(AsyncSemaphoreTest, ThatDiesAbortsWhoWaitsAndItsPermitsMayDieLater) {
  auto semaphore = std::make_unique<AsyncSemaphore>(1);
  std::optional<Permit> held = semaphore->TryAcquire();
  const Future<Permit> waiting = semaphore->Acquire();
  semaphore.reset();
  EXPECT_TRUE(absl::IsAborted(waiting.PeekOrError().status()));
  held.reset();
}

TEST(AsyncSemaphoreTest, APermitThatIsAssignedOverGoesBack) {
  AsyncSemaphore semaphore(2);
  Permit permit = *semaphore.TryAcquire(2);
  EXPECT_EQ(semaphore.available(), 0);
  permit = Permit();
  EXPECT_EQ(semaphore.available(), 2);
}

TEST(AsyncSemaphoreTest, AHundredThousandDroppedRequestsNeedNoStack) {
  AsyncSemaphore semaphore(1);
  std::optional<Permit> held = semaphore.TryAcquire();
  for (int i = 0; i < 100'000; ++i) (void)semaphore.Acquire();
  const Future<Permit> last = semaphore.Acquire();
  held.reset();
  EXPECT_TRUE(last.is_success());
  EXPECT_EQ(semaphore.waiting(), 0u);
}

TEST(AsyncSemaphoreTest, AHundredThousandCallbacksThatReleaseNeedNoStack) {
  AsyncSemaphore semaphore(1);
  std::optional<Permit> held = semaphore.TryAcquire();
  int turns = 0;
  for (int i = 0; i < 100'000; ++i) {
    semaphore.Acquire().AddCallback([&turns](Future<Permit> granted) {
      ++turns;
      Granted(granted).Release();
    });
  }
  held.reset();
  EXPECT_EQ(turns, 100'000);
  EXPECT_EQ(semaphore.available(), 1);
}

TEST(AsyncMutexTest, IsHeldByOne) {
  AsyncMutex mutex;
  std::optional<AsyncMutex::Guard> held = mutex.TryLock();
  ASSERT_TRUE(held.has_value());
  EXPECT_FALSE(mutex.TryLock().has_value());
  const Future<AsyncMutex::Guard> next = mutex.Lock();
  EXPECT_FALSE(next.is_ready());
  held.reset();
  EXPECT_TRUE(next.is_success());
}

TEST(AsyncEventTest, ResolvesAllWhoWaitAndWhoComesLater) {
  AsyncEvent event;
  const Future<void> a = event.Wait();
  const Future<void> b = event.Wait();
  EXPECT_FALSE(event.is_set());
  EXPECT_FALSE(a.is_ready());
  EXPECT_TRUE(event.Set());
  EXPECT_FALSE(event.Set());
  EXPECT_TRUE(event.is_set());
  EXPECT_TRUE(a.is_success());
  EXPECT_TRUE(b.is_success());
  EXPECT_TRUE(event.Wait().is_success());
}

TEST(AsyncEventTest, ACancelConcernsOneWaiter) {
  AsyncEvent event;
  const Future<void> a = event.Wait();
  const Future<void> b = event.Wait();
  a.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(a.PeekOrError()));
  EXPECT_FALSE(b.is_ready());
  event.Set();
  EXPECT_TRUE(b.is_success());
}

TEST(AsyncEventTest, ThatDiesUnsetAbortsWhoWaits) {
  Future<void> waiting;
  {
    AsyncEvent event;
    waiting = event.Wait();
  }
  EXPECT_TRUE(absl::IsAborted(waiting.PeekOrError()));
}

class AsyncConditionTest : public ::testing::Test {
 protected:
  // One who holds the lock and waits.
  Future<AsyncMutex::Guard> Wait() { return condition_.Wait(*mutex_.TryLock()); }

  AsyncMutex mutex_;
  AsyncCondition condition_;
};

TEST_F(AsyncConditionTest, WaitsWithoutTheLockAndWakesWithIt) {
  Future<AsyncMutex::Guard> waiting = Wait();
  std::optional<AsyncMutex::Guard> other = mutex_.TryLock();
  ASSERT_TRUE(other.has_value());
  condition_.NotifyOne();
  EXPECT_FALSE(waiting.is_ready());
  other.reset();
  ASSERT_TRUE(waiting.is_success());
  EXPECT_FALSE(mutex_.TryLock().has_value());
}

TEST_F(AsyncConditionTest, NotifiesOneOrAllInTheirOrder) {
  std::vector<Future<AsyncMutex::Guard>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(Wait());
  condition_.NotifyOne();
  EXPECT_TRUE(waiting[0].is_success());
  waiting[0] = Future<AsyncMutex::Guard>();
  EXPECT_FALSE(waiting[1].is_ready());
  condition_.NotifyAll();
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_TRUE(waiting[i].is_success());
    waiting[i] = Future<AsyncMutex::Guard>();
  }
}

TEST_F(AsyncConditionTest, ANotificationBeforeTheWaitIsNotKept) {
  condition_.NotifyAll();
  EXPECT_FALSE(Wait().is_ready());
}

TEST_F(AsyncConditionTest, ANotificationIsNotLostOnWhoWasCancelledOrDropped) {
  const Future<AsyncMutex::Guard> cancelled = Wait();
  (void)Wait();
  const Future<AsyncMutex::Guard> last = Wait();
  cancelled.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(cancelled.PeekOrError().status()));
  condition_.NotifyOne();
  EXPECT_TRUE(last.is_success());
}

TEST_F(AsyncConditionTest, OnceNotifiedACancelComesTooLate) {
  const Future<AsyncMutex::Guard> waiting = Wait();
  std::optional<AsyncMutex::Guard> other = mutex_.TryLock();
  condition_.NotifyOne();
  waiting.RequestCancel();
  EXPECT_FALSE(waiting.is_ready());
  other.reset();
  EXPECT_TRUE(waiting.is_success());
}

TEST(AsyncConditionLifeTest, WhoWaitsLearnsThatTheConditionOrTheMutexDied) {
  Future<AsyncMutex::Guard> of_condition;
  Future<AsyncMutex::Guard> of_mutex;
  AsyncCondition left;
  {
    AsyncMutex mutex;
    AsyncCondition condition;
    of_condition = condition.Wait(*mutex.TryLock());
    of_mutex = left.Wait(*mutex.TryLock());
  }
  EXPECT_TRUE(absl::IsAborted(of_condition.PeekOrError().status()));
  left.NotifyAll();
  EXPECT_TRUE(absl::IsAborted(of_mutex.PeekOrError().status()));
}

using AsyncLockCoTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, AsyncLockCoTest, ::testing::Values(0, 1, 2, 8));

// The counter is a plain one: ThreadSanitizer and the sum show whether the lock orders it.
TEST_P(AsyncLockCoTest, TheMutexIsHeldOverSuspension) {
  AsyncMutex mutex;
  int counter = 0;
  const auto add = [&]() -> CoTask<absl::Status> {
    for (int i = 0; i < 100; ++i) {
      Future<AsyncMutex::Guard> locking = mutex.Lock();
      const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      if (!guard.ok()) co_return guard.status();
      const int before = counter;
      co_await Yield();
      counter = before + 1;
    }
    co_return absl::OkStatus();
  };
  std::vector<Future<void>> all;
  for (int i = 0; i < 10; ++i) all.push_back(Spawn(pool_, add));
  EXPECT_EQ(Settle(pool_, Barrier(all)), absl::OkStatus());
  EXPECT_EQ(counter, 1000);
}

// C 35: with fewer workers than holders, a semaphore that blocked a worker would hang here.
TEST_P(AsyncLockCoTest, TheSemaphoreSuspendsTasksAndNeverAWorker) {
  AsyncSemaphore semaphore(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto enter = [&](std::int64_t units) -> CoTask<absl::Status> {
    Future<Permit> asking = semaphore.Acquire(units);
    const absl::StatusOr<Permit> permit = co_await std::move(asking);
    if (!permit.ok()) co_return permit.status();
    const int now = inside += static_cast<int>(units);
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    co_await Yield();
    inside -= static_cast<int>(units);
    co_return absl::OkStatus();
  };
  std::vector<Future<void>> all;
  for (int i = 0; i < 300; ++i) all.push_back(Spawn(pool_, enter(i % 3 + 1)));
  EXPECT_EQ(Settle(pool_, Barrier(all)), absl::OkStatus());
  EXPECT_LE(most.load(), 3);
  EXPECT_GE(most.load(), 1);
  EXPECT_EQ(semaphore.available(), 3);
}

// A queue of the user's own, made of a mutex and a condition.
TEST_P(AsyncLockCoTest, TheConditionWakesWhoWaitsForAChange) {
  constexpr int kValues = 500;
  AsyncMutex mutex;
  AsyncCondition changed;
  std::deque<int> queue;
  const auto consume = [&]() -> CoTask<int> {
    int sum = 0;
    for (int i = 0; i < kValues; ++i) {
      Future<AsyncMutex::Guard> locking = mutex.Lock();
      absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      while (guard.ok() && queue.empty()) {
        Future<AsyncMutex::Guard> waiting = changed.Wait(*std::move(guard));
        guard = co_await std::move(waiting);
      }
      if (!guard.ok()) co_return guard.status();
      sum += queue.front();
      queue.pop_front();
    }
    co_return sum;
  };
  const auto produce = [&]() -> CoTask<absl::Status> {
    for (int i = 0; i < 2 * kValues; ++i) {
      Future<AsyncMutex::Guard> locking = mutex.Lock();
      const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      if (!guard.ok()) co_return guard.status();
      queue.push_back(i);
      changed.NotifyOne();
    }
    co_return absl::OkStatus();
  };
  const Future<int> first = Spawn(pool_, consume);
  const Future<int> second = Spawn(pool_, consume);
  const Future<void> producer = Spawn(pool_, produce);
  const Future<std::pair<int, int>> sums = Both(first, second);
  const absl::StatusOr<std::pair<int, int>>& both = Settle(pool_, sums);
  EXPECT_EQ(Settle(pool_, producer), absl::OkStatus());
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->first + both->second, 2 * kValues * (2 * kValues - 1) / 2);
}

}  // namespace
}  // namespace jackdaw
