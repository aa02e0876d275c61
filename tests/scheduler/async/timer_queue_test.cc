// TimerQueue by a clock that the test moves, and by the real one where the thread itself is
// the subject. A test with the real clock waits for an event, never for a span.

#include "scheduler/async/timer_queue.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

class ManualTimerQueueTest : public ::testing::Test {
 protected:
  TimerQueue::TimerId Note(absl::Duration delay, int name) {
    return timers_.After(delay, [this, name] { called_.push_back(name); });
  }

  FakeClock clock_;
  TimerQueue timers_{&clock_, TimerQueue::Drive::kManual};
  std::vector<int> called_;
};

TEST_F(ManualTimerQueueTest, NothingRunsBeforeItsTime) {
  Note(absl::Milliseconds(10), 1);
  clock_.Advance(absl::Nanoseconds(9'999'999));
  EXPECT_EQ(timers_.RunDue(), 0);
  EXPECT_EQ(timers_.size(), 1);
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(timers_.size(), 0);
  EXPECT_EQ(called_, std::vector<int>({1}));
}

TEST_F(ManualTimerQueueTest, TimersRunInTheOrderOfTheirTimesThenOfTheirMaking) {
  Note(absl::Seconds(3), 3);
  Note(absl::Seconds(1), 10);
  Note(absl::Seconds(2), 2);
  Note(absl::Seconds(1), 11);
  Note(absl::Seconds(1), 12);
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(timers_.RunDue(), 5);
  EXPECT_EQ(called_, std::vector<int>({10, 11, 12, 2, 3}));
}

TEST_F(ManualTimerQueueTest, ADelayThatIsNotPositiveIsDueAtOnceButNotRunByAfter) {
  Note(absl::ZeroDuration(), 1);
  Note(absl::Seconds(-5), 2);
  EXPECT_TRUE(called_.empty());
  EXPECT_EQ(timers_.RunDue(), 2);
  EXPECT_EQ(called_, std::vector<int>({1, 2}));
}

TEST_F(ManualTimerQueueTest, AnInfiniteDelayNeverComes) {
  const TimerQueue::TimerId id = Note(absl::InfiniteDuration(), 1);
  clock_.Advance(absl::Hours(24 * 365 * 100));
  EXPECT_EQ(timers_.RunDue(), 0);
  EXPECT_TRUE(timers_.Cancel(id));
}

TEST_F(ManualTimerQueueTest, WallClockJumpsDoNotMoveTimers) {
  Note(absl::Seconds(1), 1);
  clock_.SetNow(absl::FromUnixSeconds(4'000'000'000));
  EXPECT_EQ(timers_.RunDue(), 0);
  clock_.SetNow(absl::UnixEpoch());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), 1);
}

TEST_F(ManualTimerQueueTest, CancelIsTrueOnceAndOnlyBeforeTheStart) {
  const TimerQueue::TimerId first = Note(absl::Seconds(1), 1);
  const TimerQueue::TimerId second = Note(absl::Seconds(1), 2);
  EXPECT_TRUE(timers_.Cancel(first));
  EXPECT_FALSE(timers_.Cancel(first));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_FALSE(timers_.Cancel(second));
  EXPECT_EQ(called_, std::vector<int>({2}));
  EXPECT_FALSE(timers_.Cancel(0));
  EXPECT_FALSE(timers_.Cancel(~TimerQueue::TimerId{0}));
}

TEST_F(ManualTimerQueueTest, AnIdIsNeverZeroAndNeverUsedAgain) {
  std::vector<TimerQueue::TimerId> ids;
  for (int i = 0; i < 1000; ++i) {
    const TimerQueue::TimerId id = Note(absl::Seconds(1), i);
    EXPECT_NE(id, 0u);
    ids.push_back(id);
    ASSERT_TRUE(timers_.Cancel(id));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST_F(ManualTimerQueueTest, CancelDestroysTheCallback) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  const TimerQueue::TimerId id = timers_.After(absl::Seconds(1), [kept] { ++*kept; });
  kept.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_TRUE(timers_.Cancel(id));
  EXPECT_TRUE(watch.expired());
}

TEST_F(ManualTimerQueueTest, WhatACallbackAddsWaitsForTheNextCall) {
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    timers_.After(absl::ZeroDuration(), again);
  };
  timers_.After(absl::ZeroDuration(), again);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(ran, 2);
}

TEST_F(ManualTimerQueueTest, ACallbackMayCancelOthers) {
  TimerQueue::TimerId second = 0;
  timers_.After(absl::Seconds(1), [&] { EXPECT_TRUE(timers_.Cancel(second)); });
  second = Note(absl::Seconds(1), 2);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_TRUE(called_.empty());
}

// Random adds, cancels and advances against a plain list of (due, serial).
TEST_F(ManualTimerQueueTest, AgreesWithAPlainListOverRandomOperations) {
  struct Plain {
    std::int64_t due_ns;
    int name;
    TimerQueue::TimerId id;
  };
  Random random(42);
  std::vector<Plain> plain;
  std::vector<int> expected;
  for (int name = 0; name < 20'000; ++name) {
    const auto delay_ns = static_cast<std::int64_t>(random.Below(1000));
    const TimerQueue::TimerId id = Note(absl::Nanoseconds(delay_ns), name);
    plain.push_back({clock_.MonotonicNanos() + delay_ns, name, id});
    if (random.Below(3) == 0) {
      const std::size_t victim = random.Below(plain.size());
      ASSERT_TRUE(timers_.Cancel(plain[victim].id));
      plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    clock_.Advance(absl::Nanoseconds(static_cast<std::int64_t>(random.Below(20))));
    if (random.Below(10) != 0) continue;
    timers_.RunDue();
    const std::int64_t now_ns = clock_.MonotonicNanos();
    const auto due = std::stable_partition(
        plain.begin(), plain.end(), [now_ns](const Plain& timer) { return timer.due_ns > now_ns; });
    std::stable_sort(due, plain.end(),
                     [](const Plain& a, const Plain& b) { return a.due_ns < b.due_ns; });
    for (auto it = due; it != plain.end(); ++it) expected.push_back(it->name);
    plain.erase(due, plain.end());
    ASSERT_EQ(called_, expected);
    ASSERT_EQ(timers_.size(), static_cast<std::int64_t>(plain.size()));
  }
}

TEST_F(ManualTimerQueueTest, AHundredThousandTimersRunInOrder) {
  constexpr int kTimers = 100'000;
  std::int64_t last_due = 0;
  int ran = 0;
  Random random(7);
  for (int i = 0; i < kTimers; ++i) {
    const auto due = static_cast<std::int64_t>(random.Below(1'000'000));
    timers_.After(absl::Microseconds(due), [&, due] {
      EXPECT_GE(due, last_due);
      last_due = due;
      ++ran;
    });
  }
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), kTimers);
  EXPECT_EQ(ran, kTimers);
}

TEST(TimerQueueTest, DestructionDropsWhatIsPending) {
  FakeClock clock;
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  {
    TimerQueue timers(&clock, TimerQueue::Drive::kManual);
    timers.After(absl::Seconds(1), [kept = std::move(kept)] { ADD_FAILURE(); });
  }
  EXPECT_TRUE(watch.expired());
}

TEST(TimerQueueTest, TheThreadRunsTimersInOrderAndNotEarly) {
  TimerQueue timers;
  const std::int64_t start_ns = Clock::Real().MonotonicNanos();
  std::vector<int> called;
  absl::Notification done;
  std::int64_t done_ns = 0;
  timers.After(absl::Milliseconds(10), [&] {
    called.push_back(3);
    done_ns = Clock::Real().MonotonicNanos();
    done.Notify();
  });
  timers.After(absl::Milliseconds(2), [&] { called.push_back(2); });
  timers.After(absl::ZeroDuration(), [&] { called.push_back(1); });
  done.WaitForNotification();
  EXPECT_EQ(called, std::vector<int>({1, 2, 3}));
  EXPECT_GE(done_ns - start_ns, 10'000'000);
}

TEST(TimerQueueTest, AnEarlierTimerWakesTheThreadFromALongWait) {
  TimerQueue timers;
  const TimerQueue::TimerId far = timers.After(absl::Hours(1), [] { ADD_FAILURE(); });
  absl::Notification done;
  timers.After(absl::Milliseconds(1), [&] { done.Notify(); });
  done.WaitForNotification();
  EXPECT_TRUE(timers.Cancel(far));
}

TEST(TimerQueueTest, AnIdleThreadEndsWithTheQueue) {
  for (int i = 0; i < 100; ++i) {
    TimerQueue timers;
    if (i % 2 == 0) timers.After(absl::Hours(1), [] { ADD_FAILURE(); });
  }
}

}  // namespace
}  // namespace jackdaw
