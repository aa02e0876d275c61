// A pool that is shut down at a random point under coroutines that are suspended on channels,
// locks, events, conditions, descriptors and timers; then all of those are destroyed under
// whoever still waits. Oracle: every future resolves, every frame dies once (each owns a
// counted object, and AddressSanitizer sees the memory), no unit of a semaphore is lost.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
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
#include "scheduler/base/random.h"
#include "scheduler/base/unique_fd.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

constexpr int kCoroutines = 300;
constexpr int kKinds = 8;
constexpr int kRounds = 20;

class Counted {
 public:
  explicit Counted(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

// All there is to wait for.
struct Things {
  Things() {
    std::array<int, 2> fds;
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reader = UniqueFd(fds[0]);
    writer = UniqueFd(fds[1]);
  }
  void WriteByte() const { EXPECT_EQ(write(writer.get(), "x", 1), 1); }

  Channel<int> channel{2};
  AsyncMutex mutex;
  AsyncSemaphore semaphore{3};
  AsyncEvent event;
  AsyncCondition condition;
  UniqueFd reader;
  UniqueFd writer;
  FdWatcher watcher;
  TimerQueue timers;
};

// Waits for things of one kind, a number of times, holding on to what it gets across a turn.
CoTask<absl::Status> WaitFor(Things& things, int kind, Counted counted) {
  for (int i = 0; i < kRounds; ++i) {
    const Counted local = counted;
    absl::Status status;
    if (kind == 0) {
      const Future<int> popping = things.channel.Pop();
      const absl::StatusOr<int>& popped = co_await popping;
      status = popped.status();
    } else if (kind == 1) {
      const Future<void> pushing = things.channel.Push(kind);
      const absl::Status& pushed = co_await pushing;
      status = pushed;
    } else if (kind == 2 || kind == 3) {
      Future<AsyncSemaphore::Permit> asking =
          kind == 2 ? things.mutex.Lock() : things.semaphore.Acquire(2);
      const absl::StatusOr<AsyncSemaphore::Permit> permit = co_await std::move(asking);
      co_await Yield();
      status = permit.status();
    } else if (kind == 4) {
      const Future<void> waiting = things.event.Wait();
      const absl::Status& set = co_await waiting;
      co_return set;
    } else if (kind == 5) {
      Future<AsyncMutex::Guard> locking = things.mutex.Lock();
      absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
      if (!guard.ok()) co_return guard.status();
      Future<AsyncMutex::Guard> waiting = things.condition.Wait(*std::move(guard));
      guard = co_await std::move(waiting);
      things.condition.NotifyOne();
      status = guard.status();
    } else if (kind == 6) {
      const Future<void> readable = things.watcher.Readable(things.reader.get());
      const absl::Status& ready = co_await readable;
      co_return ready;
    } else {
      const Future<void> pause = Delay(things.timers, absl::Microseconds(50));
      const absl::Status& over = co_await pause;
      status = over;
    }
    if (!status.ok()) co_return status;
  }
  co_return absl::OkStatus();
}

class SyncShutdownTest : public ::testing::TestWithParam<std::tuple<int, ShutdownMode>> {
 protected:
  void Round(std::uint64_t seed) {
    Random random(seed);
    std::atomic<int> alive{0};
    std::vector<Future<void>> futures;
    {
      // It outlives whatever may still resume coroutines on it.
      WorkStealingPool pool({.name = "test", .workers = std::get<0>(GetParam())});
      Things things;
      for (int i = 0; i < kCoroutines; ++i) {
        futures.push_back(Spawn(pool, WaitFor(things, i % kKinds, Counted(alive))));
      }
      for (std::uint64_t turns = random.Below(2000); turns > 0; --turns) {
        if (pool.size() == 0) pool.RunOne();
        if (turns == 500) things.event.Set();
        if (turns == 300) things.condition.NotifyOne();
        if (turns == 100) things.WriteByte();
        if (turns % 50 == 0) futures[random.Below(futures.size())].RequestCancel();
      }
      pool.ShutdownAndWait(std::get<1>(GetParam()));
    }
    for (const Future<void>& future : futures) {
      const absl::Status& end = future.PeekOrError();
      EXPECT_TRUE(future.is_ready());
      EXPECT_TRUE(end.ok() || absl::IsUnavailable(end) || absl::IsCancelled(end) ||
                  absl::IsAborted(end) || IsClosed(end))
          << end;
    }
    EXPECT_EQ(alive.load(), 0);
  }
};

TEST_P(SyncShutdownTest, EveryFutureResolvesAndEveryFrameDies) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Round(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Pools, SyncShutdownTest,
                         ::testing::Combine(::testing::Values(0, 1, 2, 8),
                                            ::testing::Values(ShutdownMode::kDrain,
                                                              ShutdownMode::kCancel)));

}  // namespace
}  // namespace jackdaw
