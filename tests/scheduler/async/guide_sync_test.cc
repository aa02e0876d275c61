// Short samples of waiting, cancelling, channels, locks, queues and descriptors; each shows one
// thing, and is compiled and run. docs/scheduler.md quotes what stands between the marks, word
// for word: after a change, run tests/docs/pages.py.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/async_condition.h"
#include "scheduler/async/async_event.h"
#include "scheduler/async/async_mutex.h"
#include "scheduler/async/async_semaphore.h"
#include "scheduler/async/blocking_queue.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/fd_watcher.h"
#include "scheduler/async/for_each.h"
#include "scheduler/async/future_any.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/guarded.h"
#include "scheduler/async/on.h"
#include "scheduler/base/unique_fd.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

int Square(int n) { return n * n; }

// ---- Waiting ----

TEST(GuideTest, WaitFromAThreadOfYourOwn) {
  // sample: wait-on-a-thread
  WorkStealingPool pool({.name = "compute", .workers = 2});
  const Future<int> answer = Spawn(pool, [] { return Square(6); });
  const absl::StatusOr<int>& value = answer.Wait();
  EXPECT_EQ(value.value(), 36);
  // end of sample
}

// sample: wait-in-a-coroutine
CoTask<int> SumOfSquares(Runner& pool, int a, int b) {
  const Future<int> first = Spawn(pool, [a] { return Square(a); });
  const Future<int> second = Spawn(pool, [b] { return Square(b); });
  const absl::StatusOr<int>& x = co_await first;
  const absl::StatusOr<int>& y = co_await second;
  if (!x.ok()) co_return x.status();
  if (!y.ok()) co_return y.status();
  co_return *x + *y;
}
// end of sample

TEST(GuideTest, WaitInACoroutine) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  EXPECT_EQ(Spawn(pool, SumOfSquares(pool, 3, 4)).Wait().value(), 25);
}

TEST(GuideTest, WaitByCallback) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: wait-by-callback
  const Future<std::string> text =
      Spawn(pool, [] { return Square(6); }).Map([](int n) { return absl::StrCat(n); });
  // end of sample
  EXPECT_EQ(text.Wait().value(), "36");
}

TEST(GuideTest, GoOnOnAnotherRunner) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: another-runner
  FifoPool blocking({.name = "blocking", .threads = 4});
  const Future<std::string> saved =
      Spawn(pool, [] {
        return Square(6);
      }).Then(On(blocking, [](int n) { return absl::StrCat("saved ", n); }));
  EXPECT_EQ(saved.Wait().value(), "saved 36");
  // end of sample
}

TEST(GuideTest, WaitForAllForOneForWhicheverSucceeds) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: wait-for-several
  std::vector<Future<int>> parts;
  for (int i = 1; i <= 3; ++i) parts.push_back(Spawn(pool, [i] { return Square(i); }));
  EXPECT_EQ(WhenAll(parts).Wait().value(), std::vector<int>({1, 4, 9}));

  const Future<int> failed = Future<int>::Ready(absl::UnavailableError("a replica is down"));
  const Future<int> either = FirstSuccess(std::vector<Future<int>>{failed, parts[0]});
  EXPECT_EQ(either.Wait().value(), 1);
  // end of sample
}

TEST(GuideTest, WaitWithALimit) {
  // sample: time-limit
  TimerQueue timers;
  const Promise<int> never;
  const Promise<void> given_up;
  never.OnCancel([&given_up] { given_up.Fulfil(); });
  const Future<int> limited = WithTimeout(timers, absl::Milliseconds(5), never.future());
  EXPECT_TRUE(absl::IsDeadlineExceeded(limited.Wait().status()));
  EXPECT_EQ(given_up.future().Wait(), absl::OkStatus());  // What came too late is asked to stop.
  // end of sample
}

TEST(GuideTest, RecoverFromAnError) {
  // sample: recover
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("no such key"));
  const Future<int> recovered =
      failed.MapResult([](const absl::StatusOr<int>& result) { return result.ok() ? *result : 0; });
  EXPECT_EQ(recovered.Wait().value(), 0);
  // end of sample
}

TEST(GuideTest, OneTaskForEachElement) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: for-each
  std::vector<int> numbers = {1, 2, 3};
  const Future<void> all = ForEach(pool, numbers, [](int& n) { n = Square(n); });
  EXPECT_EQ(all.Wait(), absl::OkStatus());
  EXPECT_EQ(numbers, std::vector<int>({1, 4, 9}));
  // end of sample
}

// sample: cancel-a-coroutine
CoTask<int> CountTo(int limit) {
  for (int count = 0; count < limit; ++count) {
    const bool stop = co_await CancelRequested();
    if (stop) co_return absl::CancelledError("nobody wants the number any more");
    co_await Yield();  // A loop that never suspends would keep its worker.
  }
  co_return limit;
}
// end of sample

TEST(GuideTest, CancelAFuture) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: cancel-a-future
  const Future<int> counting = Spawn(pool, CountTo(1'000'000'000));
  counting.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(counting.Wait().status()));
  // end of sample
}

// A library that calls back, at some time and on some thread.
void Fetch(const std::string& key, const std::function<void(std::string)>& done) {
  done("value of " + key);
}

// sample: callback
Future<std::string> FetchLater(const std::string& key) {
  auto promise = std::make_shared<Promise<std::string>>();
  Fetch(key, [promise](std::string value) { promise->Fulfil(std::move(value)); });
  return promise->future();
}
// end of sample

TEST(GuideTest, AFutureOfACallback) { EXPECT_EQ(FetchLater("x").Wait().value(), "value of x"); }

// ---- Channels ----

// sample: channel
CoTask<void> Produce(Channel<int>& numbers) {
  for (int i = 1; i <= 100; ++i) {
    const Future<void> pushing = numbers.Push(i);  // Waits while the channel is full.
    const absl::Status& pushed = co_await pushing;
    if (!pushed.ok()) co_return;  // Nobody reads any more.
  }
  numbers.Close();
}

CoTask<int> Consume(Channel<int>& numbers) {
  int sum = 0;
  for (;;) {
    const Future<int> popping = numbers.Pop();
    const absl::StatusOr<int>& number = co_await popping;
    if (IsClosed(number.status())) co_return sum;  // After all that was pushed.
    if (!number.ok()) co_return number.status();
    sum += *number;
  }
}
// end of sample

TEST(GuideTest, AChannelBetweenCoroutines) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  // sample: run-the-channel
  Channel<int> numbers(8);
  const Future<int> sum = Spawn(pool, Consume(numbers));
  const Future<void> produced = Spawn(pool, Produce(numbers));
  EXPECT_EQ(sum.Wait().value(), 5050);
  EXPECT_EQ(produced.Wait(), absl::OkStatus());
  // end of sample
}

TEST(GuideTest, APopThatIsGivenUpLosesNothing) {
  Channel<int> numbers(1);
  const Future<int> popping = numbers.Pop();
  popping.RequestCancel();
  // Either a value, if it came first, or CANCELLED. Here nothing was pushed.
  EXPECT_TRUE(absl::IsCancelled(popping.Wait().status()));
}

TEST(GuideTest, AQueueBetweenThreads) {
  // sample: blocking-queue
  BlockingQueue<std::string> lines(1000);
  std::thread writer([&lines] {
    std::deque<std::string> batch;
    std::size_t written = 0;
    while (const std::size_t count = lines.Transfer(batch)) {  // One lock for many lines.
      written += count;
      batch.clear();
    }
    EXPECT_EQ(written, 3u);
  });
  for (const char* line : {"one", "two", "three"}) EXPECT_TRUE(lines.Push(line));
  lines.Close();
  writer.join();
  // end of sample
}

// ---- Locks ----

TEST(GuideTest, AValueUnderALock) {
  // sample: guarded
  Guarded<std::map<std::string, int>> ages;
  ages.With([](auto& map) { map["ada"] = 36; });
  EXPECT_EQ(ages.With([](const auto& map) { return map.at("ada"); }), 36);
  // end of sample
}

// sample: mutex
CoTask<absl::Status> Transfer(AsyncMutex& mutex, int& from, int& to, int amount) {
  Future<AsyncMutex::Guard> locking = mutex.Lock();
  const absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
  if (!guard.ok()) co_return guard.status();
  from -= amount;
  co_await Yield();  // The lock is held over it; no thread is.
  to += amount;
  co_return absl::OkStatus();
}
// end of sample

TEST(GuideTest, ALockOverAnAwait) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  AsyncMutex mutex;
  int from = 100;
  int to = 0;
  std::vector<Future<void>> transfers;
  for (int i = 0; i < 10; ++i) transfers.push_back(Spawn(pool, Transfer(mutex, from, to, 10)));
  EXPECT_EQ(Barrier(transfers).Wait(), absl::OkStatus());
  EXPECT_EQ(from, 0);
  EXPECT_EQ(to, 100);
}

// sample: semaphore
CoTask<absl::Status> Download(AsyncSemaphore& connections, std::int64_t weight) {
  Future<AsyncSemaphore::Permit> asking = connections.Acquire(weight);
  const absl::StatusOr<AsyncSemaphore::Permit> permit = co_await std::move(asking);
  co_return permit.status();  // The permit goes back when it dies.
}
// end of sample

TEST(GuideTest, AtMostSoManyAtATime) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  AsyncSemaphore connections(4);
  std::vector<Future<void>> downloads;
  for (int i = 0; i < 20; ++i) downloads.push_back(Spawn(pool, Download(connections, i % 4 + 1)));
  EXPECT_EQ(Barrier(downloads).Wait(), absl::OkStatus());
  EXPECT_EQ(connections.available(), 4);
}

TEST(GuideTest, SomethingThatHappensOnce) {
  // sample: event
  AsyncEvent loaded;
  const Future<int> served = loaded.Wait().Map([] { return 1; });
  loaded.Set();
  EXPECT_EQ(served.Wait().value(), 1);
  // end of sample
}

// sample: condition
CoTask<absl::Status> WaitUntilPositive(AsyncMutex& mutex, AsyncCondition& changed, int& balance) {
  Future<AsyncMutex::Guard> locking = mutex.Lock();
  absl::StatusOr<AsyncMutex::Guard> guard = co_await std::move(locking);
  while (guard.ok() && balance <= 0) {
    Future<AsyncMutex::Guard> waiting = changed.Wait(*std::move(guard));
    guard = co_await std::move(waiting);
  }
  co_return guard.status();
}
// end of sample

TEST(GuideTest, WaitForAChangeUnderALock) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  AsyncMutex mutex;
  AsyncCondition changed;
  int balance = 0;
  const Future<void> positive = Spawn(pool, WaitUntilPositive(mutex, changed, balance));
  const Future<void> paid = mutex.Lock().Map([&](AsyncMutex::Guard) {
    balance = 5;
    changed.NotifyAll();
  });
  EXPECT_EQ(paid.Wait(), absl::OkStatus());
  EXPECT_EQ(positive.Wait(), absl::OkStatus());
}

// ---- Descriptors and time ----

// sample: descriptor
CoTask<std::string> ReadAll(FdWatcher& watcher, int fd) {
  std::string text;
  std::array<char, 256> bytes;
  for (;;) {
    const Future<void> waiting = watcher.Readable(fd);
    const absl::Status& readable = co_await waiting;  // Holds no thread meanwhile.
    if (!readable.ok()) co_return readable;
    const ssize_t count = read(fd, bytes.data(), bytes.size());
    if (count == 0) co_return text;
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}
// end of sample

TEST(GuideTest, ReadFromAPipe) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  std::array<int, 2> fds;
  ASSERT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd reader(fds[0]);
  UniqueFd writer(fds[1]);
  FdWatcher watcher;
  const Future<std::string> text = Spawn(pool, ReadAll(watcher, reader.get()));
  EXPECT_EQ(write(writer.get(), "hello", 5), 5);
  writer.Close();
  EXPECT_EQ(text.Wait().value(), "hello");
}

TEST(GuideTest, Pause) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  TimerQueue timers;
  const Future<void> done = Spawn(pool, [&timers]() -> CoTask<absl::Status> {
    const Future<void> pause = Delay(timers, absl::Milliseconds(1));
    const absl::Status& over = co_await pause;
    co_return over;
  });
  EXPECT_EQ(done.Wait(), absl::OkStatus());
}

}  // namespace
}  // namespace jackdaw
