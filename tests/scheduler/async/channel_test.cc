// Channel, method by method on one thread, where every hand-over shows; and coroutines on both
// sides at 0, 1, 2 and 8 workers. The stress is in channel_stress_test.cc.

#include "scheduler/async/channel.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "tests/scheduler/async/settle.h"

namespace jackdaw {
namespace {

TEST(ChannelTest, GivesValuesInTheOrderOfThePushes) {
  Channel<int> channel(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(channel.Push(i).is_success());
  EXPECT_EQ(channel.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(channel.Pop().PeekOrError().value(), i);
  EXPECT_EQ(channel.size(), 0u);
}

TEST(ChannelTest, APushWaitsWhereThereIsNoRoomAndGoesInInItsTurn) {
  Channel<int> channel(1);
  const Future<void> first = channel.Push(1);
  const Future<void> second = channel.Push(2);
  const Future<void> third = channel.Push(3);
  EXPECT_TRUE(first.is_success());
  EXPECT_FALSE(second.is_ready());
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 1);
  EXPECT_TRUE(second.is_success());
  EXPECT_FALSE(third.is_ready());
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 2);
  EXPECT_TRUE(third.is_success());
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 3);
}

TEST(ChannelTest, PopsThatWaitAreServedInTheirOrder) {
  Channel<int> channel(8);
  const Future<int> first = channel.Pop();
  const Future<int> second = channel.Pop();
  EXPECT_TRUE(channel.Push(1).is_success());
  EXPECT_EQ(first.PeekOrError().value(), 1);
  EXPECT_FALSE(second.is_ready());
  EXPECT_TRUE(channel.Push(2).is_success());
  EXPECT_EQ(second.PeekOrError().value(), 2);
  EXPECT_EQ(channel.size(), 0u);
}

TEST(ChannelTest, OfNoCapacityHandsOver) {
  Channel<int> channel(0);
  const Future<void> pushed = channel.Push(1);
  EXPECT_FALSE(pushed.is_ready());
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 1);
  EXPECT_TRUE(pushed.is_success());
  const Future<int> popped = channel.Pop();
  EXPECT_TRUE(channel.Push(2).is_success());
  EXPECT_EQ(popped.PeekOrError().value(), 2);
}

TEST(ChannelTest, AttemptsTellFullEmptyAndClosedApart) {
  Channel<std::string> channel(1);
  std::optional<std::string> out;
  EXPECT_EQ(channel.TryPop(out), Attempt::kWouldWait);
  std::string in = "first";
  EXPECT_EQ(channel.TryPush(in), Attempt::kDone);
  in = "second";
  EXPECT_EQ(channel.TryPush(in), Attempt::kWouldWait);
  EXPECT_EQ(in, "second");
  channel.Close();
  EXPECT_EQ(channel.TryPush(in), Attempt::kClosed);
  EXPECT_EQ(in, "second");
  EXPECT_EQ(channel.TryPop(out), Attempt::kDone);
  EXPECT_EQ(out, "first");
  EXPECT_EQ(channel.TryPop(out), Attempt::kClosed);
  EXPECT_EQ(out, "first");
}

TEST(ChannelTest, AnAttemptWakesWhoWaits) {
  Channel<int> channel(1);
  const Future<int> popped = channel.Pop();
  int in = 1;
  EXPECT_EQ(channel.TryPush(in), Attempt::kDone);
  EXPECT_EQ(popped.PeekOrError().value(), 1);
  (void)channel.Push(2);
  const Future<void> pushed = channel.Push(3);
  std::optional<int> out;
  EXPECT_EQ(channel.TryPop(out), Attempt::kDone);
  EXPECT_EQ(out, 2);
  EXPECT_TRUE(pushed.is_success());
}

TEST(ChannelTest, ClosedGivesWhatIsLeftAndThenSaysSo) {
  Channel<int> channel(2);
  (void)channel.Push(1);
  (void)channel.Push(2);
  const Future<void> waited = channel.Push(3);
  channel.Close();
  channel.Close();
  EXPECT_TRUE(channel.is_closed());
  EXPECT_TRUE(IsClosed(waited.PeekOrError()));
  EXPECT_TRUE(IsClosed(channel.Push(4).PeekOrError()));
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 1);
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 2);
  EXPECT_TRUE(IsClosed(channel.Pop().PeekOrError().status()));
}

TEST(ChannelTest, ClosingFreesThePopsThatWait) {
  Channel<int> channel(1);
  const Future<int> popped = channel.Pop();
  channel.Close();
  EXPECT_TRUE(IsClosed(popped.PeekOrError().status()));
}

TEST(ChannelTest, ThatDiesFreesAllWhoWait) {
  Future<int> popped;
  Future<void> pushed;
  {
    Channel<int> empty(1);
    popped = empty.Pop();
    Channel<int> full(0);
    pushed = full.Push(1);
  }
  EXPECT_TRUE(IsClosed(popped.PeekOrError().status()));
  EXPECT_TRUE(IsClosed(pushed.PeekOrError()));
}

TEST(ChannelTest, ACancelledPopLeavesItsPlaceToTheNext) {
  Channel<int> channel(1);
  const Future<int> first = channel.Pop();
  const Future<int> second = channel.Pop();
  first.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(first.PeekOrError().status()));
  (void)channel.Push(1);
  EXPECT_EQ(second.PeekOrError().value(), 1);
}

TEST(ChannelTest, ACancelledPushNeverComesOut) {
  Channel<std::shared_ptr<int>> channel(0);
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = kept;
  const Future<void> first = channel.Push(std::move(kept));
  const Future<void> second = channel.Push(std::make_shared<int>(2));
  first.RequestCancel();
  EXPECT_TRUE(absl::IsCancelled(first.PeekOrError()));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(**channel.Pop().PeekOrError(), 2);
  EXPECT_TRUE(second.is_success());
}

TEST(ChannelTest, ACancelAfterItsTurnDoesNothing) {
  Channel<int> channel(1);
  const Future<int> popped = channel.Pop();
  (void)channel.Push(1);
  popped.RequestCancel();
  EXPECT_EQ(popped.PeekOrError().value(), 1);
  Channel<int> gone(1);
  const Future<int> late = gone.Pop();
  gone.Close();
  late.RequestCancel();
  EXPECT_TRUE(IsClosed(late.PeekOrError().status()));
}

TEST(ChannelTest, APopThatNobodyWaitsForTakesNoValue) {
  Channel<int> channel(1);
  (void)channel.Pop();
  EXPECT_TRUE(channel.Push(1).is_success());
  EXPECT_EQ(channel.size(), 1u);
  EXPECT_EQ(channel.Pop().PeekOrError().value(), 1);
}

TEST(ChannelTest, APushThatNobodyWaitsForHasLeft) {
  Channel<std::shared_ptr<int>> channel(0);
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = kept;
  (void)channel.Push(std::move(kept));
  const Future<std::shared_ptr<int>> popped = channel.Pop();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(popped.is_ready());
}

TEST(ChannelTest, CarriesMoveOnlyValues) {
  Channel<std::unique_ptr<int>> channel(1);
  Future<std::unique_ptr<int>> popped = channel.Pop();
  (void)channel.Push(std::make_unique<int>(3));
  const absl::StatusOr<std::unique_ptr<int>> value = std::move(popped).Take();
  EXPECT_EQ(**value, 3);
}

// What a callback does to the channel that called it must not meet its lock.
TEST(ChannelTest, MayBeUsedInsideTheCallbacksItCauses) {
  Channel<int> channel(1);
  std::vector<int> seen;
  channel.Pop().OnReady([&](const absl::StatusOr<int>& first) {
    seen.push_back(*first);
    (void)channel.Push(*first + 1);
    channel.Pop().OnReady([&](const absl::StatusOr<int>& second) { seen.push_back(*second); });
    channel.Close();
  });
  (void)channel.Push(1);
  EXPECT_EQ(seen, std::vector<int>({1, 2}));
  EXPECT_TRUE(channel.is_closed());
}

TEST(ChannelTest, ClosingUnderAHundredThousandThatWaitNeedsNoStack) {
  Channel<int> channel(1);
  int closed = 0;
  for (int i = 0; i < 100'000; ++i) {
    channel.Pop().OnReady([&](const absl::StatusOr<int>& value) {
      if (IsClosed(value.status())) ++closed;
    });
  }
  channel.Close();
  EXPECT_EQ(closed, 100'000);
}

using ChannelCoTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, ChannelCoTest, ::testing::Values(0, 1, 2, 8));

CoTask<void> Produce(Channel<int>& channel, int count) {
  for (int i = 0; i < count; ++i) {
    const Future<void> pushing = channel.Push(i);
    const absl::Status& pushed = co_await pushing;
    EXPECT_EQ(pushed, absl::OkStatus());
  }
  channel.Close();
}

CoTask<std::vector<int>> Consume(Channel<int>& channel) {
  std::vector<int> values;
  for (;;) {
    const Future<int> popping = channel.Pop();
    const absl::StatusOr<int>& value = co_await popping;
    if (IsClosed(value.status())) co_return values;
    if (!value.ok()) co_return value.status();
    values.push_back(*value);
  }
}

TEST_P(ChannelCoTest, AProducerAndAConsumerTakeTurnsWhateverTheCapacity) {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    SCOPED_TRACE(capacity);
    Channel<int> channel(capacity);
    const Future<std::vector<int>> consumed = Spawn(pool_, Consume(channel));
    const Future<void> produced = Spawn(pool_, Produce(channel, 1000));
    const absl::StatusOr<std::vector<int>>& values = Settle(pool_, consumed);
    EXPECT_EQ(Settle(pool_, produced), absl::OkStatus());
    ASSERT_TRUE(values.ok());
    ASSERT_EQ(values->size(), 1000u);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ((*values)[i], static_cast<int>(i));
  }
}

}  // namespace
}  // namespace jackdaw
