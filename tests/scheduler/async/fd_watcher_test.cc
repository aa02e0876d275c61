// FdWatcher on pipes and socket pairs. Nothing here sleeps: a future is waited for, or it is
// shown that the watcher had its chance, by an event of another descriptor that came later.

#include "scheduler/async/fd_watcher.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/delay.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/wait_line.h"
#include "scheduler/base/unique_fd.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

struct Pair {
  UniqueFd a;
  UniqueFd b;

  static Pair OfPipe() {
    std::array<int, 2> fds;
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
  }
  static Pair OfSockets() {
    std::array<int, 2> fds;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
  }
};

void WriteByte(int fd) { EXPECT_EQ(write(fd, "x", 1), 1); }

void Fill(int fd) {
  const std::string block(4096, 'x');
  while (write(fd, block.data(), block.size()) > 0) {
  }
}

class FdWatcherTest : public ::testing::Test {
 protected:
  // Returns once the watcher has seen all that happened before.
  void LetWatcherPass() {
    const Pair pipe = Pair::OfPipe();
    WriteByte(pipe.b.get());
    EXPECT_EQ(watcher_.Readable(pipe.a.get()).Wait(), absl::OkStatus());
  }

  FdWatcher watcher_;
};

TEST_F(FdWatcherTest, ReadableResolvesWhenThereIsSomethingToRead) {
  const Pair pipe = Pair::OfPipe();
  const Future<void> readable = watcher_.Readable(pipe.a.get());
  LetWatcherPass();
  EXPECT_FALSE(readable.is_ready());
  EXPECT_EQ(watcher_.waiting(), 1u);
  WriteByte(pipe.b.get());
  EXPECT_EQ(readable.Wait(), absl::OkStatus());
  EXPECT_EQ(watcher_.waiting(), 0u);
}

TEST_F(FdWatcherTest, WritableResolvesWhenThereIsRoom) {
  const Pair pipe = Pair::OfPipe();
  EXPECT_EQ(watcher_.Writable(pipe.b.get()).Wait(), absl::OkStatus());
  Fill(pipe.b.get());
  const Future<void> writable = watcher_.Writable(pipe.b.get());
  LetWatcherPass();
  EXPECT_FALSE(writable.is_ready());
  std::vector<char> bytes(1 << 20);
  EXPECT_GT(read(pipe.a.get(), bytes.data(), bytes.size()), 0);
  EXPECT_EQ(writable.Wait(), absl::OkStatus());
}

TEST_F(FdWatcherTest, TheOtherEndClosingIsReady) {
  Pair pipe = Pair::OfPipe();
  const Future<void> readable = watcher_.Readable(pipe.a.get());
  pipe.b.Close();
  EXPECT_EQ(readable.Wait(), absl::OkStatus());
}

TEST_F(FdWatcherTest, ReadersAndWritersOfOneDescriptorWaitApart) {
  const Pair sockets = Pair::OfSockets();
  Fill(sockets.a.get());
  const Future<void> writable = watcher_.Writable(sockets.a.get());
  const Future<void> readable = watcher_.Readable(sockets.a.get());
  const Future<void> readable_too = watcher_.Readable(sockets.a.get());
  WriteByte(sockets.b.get());
  EXPECT_EQ(readable.Wait(), absl::OkStatus());
  EXPECT_EQ(readable_too.Wait(), absl::OkStatus());
  EXPECT_FALSE(writable.is_ready());
  std::vector<char> bytes(1 << 20);
  while (read(sockets.b.get(), bytes.data(), bytes.size()) > 0) {
  }
  EXPECT_EQ(writable.Wait(), absl::OkStatus());
}

TEST_F(FdWatcherTest, ACancelConcernsOneWaiter) {
  const Pair pipe = Pair::OfPipe();
  const Future<void> first = watcher_.Readable(pipe.a.get());
  const Future<void> second = watcher_.Readable(pipe.a.get());
  first.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(first.PeekOrError()));
  EXPECT_FALSE(second.is_ready());
  WriteByte(pipe.b.get());
  EXPECT_EQ(second.Wait(), absl::OkStatus());
  second.RequestCancel();
  EXPECT_EQ(second.Wait(), absl::OkStatus());
}

TEST_F(FdWatcherTest, ForgetFreesAllWhoWaitForThatDescriptor) {
  const Pair pipe = Pair::OfPipe();
  const Pair other = Pair::OfPipe();
  const Future<void> first = watcher_.Readable(pipe.a.get());
  const Future<void> second = watcher_.Readable(pipe.a.get());
  const Future<void> elsewhere = watcher_.Readable(other.a.get());
  watcher_.Forget(pipe.a.get());
  watcher_.Forget(pipe.a.get());
  EXPECT_TRUE(absl::IsCancelled(first.PeekOrError()));
  EXPECT_TRUE(absl::IsCancelled(second.PeekOrError()));
  EXPECT_FALSE(elsewhere.is_ready());
  EXPECT_EQ(watcher_.waiting(), 1u);
}

// The number of a closed descriptor is soon another file's. A copy of the old one stays open,
// as in a child process, so that epoll goes on knowing it.
TEST_F(FdWatcherTest, EventsOfAClosedDescriptorDoNotReachTheNextOneOfItsNumber) {
  for (const bool forget : {true, false}) {
    SCOPED_TRACE(forget);
    const Pair old = Pair::OfPipe();
    const Pair next = Pair::OfPipe();
    UniqueFd number(dup(old.a.get()));
    const Future<void> before = watcher_.Readable(number.get());
    if (forget) watcher_.Forget(number.get());
    ASSERT_EQ(dup2(next.a.get(), number.get()), number.get());
    const Future<void> after = watcher_.Readable(number.get());
    WriteByte(old.b.get());
    LetWatcherPass();
    EXPECT_FALSE(after.is_ready());
    WriteByte(next.b.get());
    EXPECT_EQ(after.Wait(), absl::OkStatus());
    EXPECT_EQ(before.Wait().code(), forget ? absl::StatusCode::kCancelled : absl::StatusCode::kOk);
    watcher_.Forget(number.get());
  }
}

TEST_F(FdWatcherTest, ThoseWhoGaveUpDoNotFillIt) {
  const Pair pipe = Pair::OfPipe();
  const Pair other = Pair::OfPipe();
  const Future<void> held = watcher_.Readable(pipe.a.get());
  for (int i = 0; i < 10'000; ++i) {
    (void)watcher_.Readable(pipe.a.get());
    (void)watcher_.Readable(other.a.get());
  }
  EXPECT_LE(watcher_.waiting(), 2 * kFirstSweep);
  WriteByte(pipe.b.get());
  EXPECT_EQ(held.Wait(), absl::OkStatus());
}

TEST_F(FdWatcherTest, OfNoDescriptorIsAnError) {
  EXPECT_FALSE(watcher_.Readable(-1).Wait().ok());
  Pair pipe = Pair::OfPipe();
  const int fd = pipe.a.get();
  pipe.a.Close();
  EXPECT_EQ(watcher_.Readable(fd).Wait().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(watcher_.waiting(), 0u);
}

TEST_F(FdWatcherTest, ARegularFileIsAlwaysReady) {
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  EXPECT_EQ(watcher_.Readable(file.get()).PeekOrError(), absl::OkStatus());
}

TEST_F(FdWatcherTest, WorksWithATimeLimit) {
  TimerQueue timers;
  const Pair pipe = Pair::OfPipe();
  const Future<void> late =
      WithTimeout(timers, absl::Milliseconds(1), watcher_.Readable(pipe.a.get()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.Wait()));
  // The timer's thread may be about to cancel the wait: the pipe must not close under it.
  watcher_.Forget(pipe.a.get());
  EXPECT_EQ(watcher_.waiting(), 0u);
}

TEST(FdWatcherLimitTest, BeyondItsLimitRefuses) {
  FdWatcher watcher({.max_waiting = 1});
  const Pair pipe = Pair::OfPipe();
  const Future<void> first = watcher.Readable(pipe.a.get());
  EXPECT_TRUE(absl::IsResourceExhausted(watcher.Readable(pipe.a.get()).PeekOrError()));
  first.RequestCancel();
  EXPECT_FALSE(watcher.Readable(pipe.a.get()).is_ready());
}

TEST(FdWatcherLifeTest, ThatDiesAbortsWhoWaits) {
  const Pair pipe = Pair::OfPipe();
  Future<void> readable;
  {
    FdWatcher watcher;
    readable = watcher.Readable(pipe.a.get());
  }
  EXPECT_TRUE(absl::IsAborted(readable.PeekOrError()));
  readable.RequestCancel();
}

// Both ends of many socket pairs, on one thread that watches and any number that work.
using FdWatcherCoTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, FdWatcherCoTest, ::testing::Values(1, 2, 8));

CoTask<int> Bounce(FdWatcher& watcher, int fd, int rounds, bool serves) {
  int seen = 0;
  if (serves) WriteByte(fd);
  while (seen < rounds) {
    const Future<void> waiting = watcher.Readable(fd);
    const absl::Status& ready = co_await waiting;
    if (!ready.ok()) co_return ready;
    char byte;
    if (read(fd, &byte, 1) != 1) continue;
    ++seen;
    if (!serves || seen < rounds) WriteByte(fd);
  }
  co_return seen;
}

TEST_P(FdWatcherCoTest, ManyDescriptorsAtOnce) {
  constexpr int kPairs = 100;
  constexpr int kRounds = 20;
  FdWatcher watcher;
  std::vector<Pair> pairs;
  std::vector<Future<int>> all;
  for (int i = 0; i < kPairs; ++i) {
    pairs.push_back(Pair::OfSockets());
    all.push_back(Spawn(pool_, Bounce(watcher, pairs.back().a.get(), kRounds, true)));
    all.push_back(Spawn(pool_, Bounce(watcher, pairs.back().b.get(), kRounds, false)));
  }
  const Future<std::vector<int>> gathered = WhenAll(all);
  const absl::StatusOr<std::vector<int>>& rounds = Settle(pool_, gathered);
  ASSERT_TRUE(rounds.ok()) << rounds.status();
  for (const int count : *rounds) EXPECT_EQ(count, kRounds);
  EXPECT_EQ(watcher.waiting(), 0u);
}

}  // namespace
}  // namespace jackdaw
