// Futures made of futures: Map, Then, Both, WhenAll, Barrier, MapAll, Flatten, Delay,
// WithTimeout.

#include "scheduler/async/future_combine.h"

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/delay.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

template <typename T>
std::vector<Future<T>> FuturesOf(const std::vector<Promise<T>>& promises) {
  std::vector<Future<T>> futures;
  for (const Promise<T>& promise : promises) futures.push_back(promise.future());
  return futures;
}

TEST(MapTest, GivesWhatTheFunctionMakesOfTheValue) {
  const Promise<int> promise;
  const Future<std::string> text =
      promise.future().Map([](int value) { return absl::StrCat(value); });
  EXPECT_FALSE(text.is_ready());
  promise.Fulfil(42);
  EXPECT_EQ(text.Wait().value(), "42");
}

TEST(MapTest, LetsAnErrorPass) {
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("gone"));
  const Future<void> mapped = failed.Map([](int) { ADD_FAILURE(); });
  EXPECT_EQ(mapped.Wait(), absl::NotFoundError("gone"));
}

TEST(MapTest, UnwrapsAStatusAndAStatusOr) {
  const Future<int> one = Future<int>::Ready(1);
  const Future<void> status = one.Map([](int) { return absl::DataLossError("x"); });
  EXPECT_EQ(status.Wait(), absl::DataLossError("x"));
  const Future<int> value = one.Map([](int v) { return absl::StatusOr<int>(v + 1); });
  EXPECT_EQ(value.Wait().value(), 2);
  const Future<int> after_void = status.Map([] { return 3; });
  EXPECT_EQ(after_void.Wait().status(), absl::DataLossError("x"));
}

TEST(MapTest, MakesAnErrorOfAnException) {
  const Future<int> one = Future<int>::Ready(1);
  const Future<int> thrown = one.Map([](int) -> int { throw std::runtime_error("thrown"); });
  EXPECT_EQ(thrown.Wait().status(), absl::UnknownError("thrown"));
  const Future<int> odd = one.Map([](int) -> int { throw 7; });
  EXPECT_EQ(odd.Wait().status().code(), absl::StatusCode::kUnknown);
}

TEST(MapTest, TakesAMoveOnlyValueFromAnRvalue) {
  Promise<std::unique_ptr<int>> promise;
  const Future<std::unique_ptr<int>> mapped = promise.future().Map([](std::unique_ptr<int> value) {
    ++*value;
    return value;
  });
  promise.Fulfil(std::make_unique<int>(1));
  EXPECT_EQ(**mapped.Wait(), 2);
}

TEST(MapTest, OfTheOnlyHandleMovesTheValue) {
  Future<std::vector<int>> only = Future<std::vector<int>>::Ready(std::vector<int>{1, 2, 3});
  const int* data = only.Peek()->value().data();
  const Future<bool> same =
      std::move(only).Map([data](std::vector<int> moved) { return moved.data() == data; });
  EXPECT_TRUE(same.Wait().value());
}

TEST(MapTest, TheFunctionDiesBeforeTheResultIsSeen) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  const Promise<int> promise;
  bool expired = false;
  promise.future()
      .Map([kept = std::move(kept)](int value) { return value; })
      .OnReady([&](const absl::StatusOr<int>&) { expired = watch.expired(); });
  promise.Fulfil(1);
  EXPECT_TRUE(expired);
}

TEST(MapTest, PassesACancelOn) {
  const Promise<int> promise;
  const Future<int> mapped =
      promise.future().Map([](int v) { return v; }).Map([](int v) { return v; });
  mapped.RequestCancel();
  EXPECT_TRUE(promise.cancel_requested());
}

TEST(ThenTest, GivesTheResultOfTheInnerFuture) {
  const Promise<int> first;
  const Promise<std::string> second;
  const Future<std::string> both = first.future().Then([&](int) { return second.future(); });
  first.Fulfil(1);
  EXPECT_FALSE(both.is_ready());
  second.Fulfil("end");
  EXPECT_EQ(both.Wait().value(), "end");
}

TEST(ThenTest, ErrorsOfBothStepsAndExceptionsPass) {
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("first"));
  const Future<int> one = Future<int>::Ready(1);
  EXPECT_EQ(failed.Then([&](int) { return one; }).Wait().status(), absl::NotFoundError("first"));
  EXPECT_EQ(one.Then([&](int) { return failed; }).Wait().status(), absl::NotFoundError("first"));
  const Future<int> thrown =
      one.Then([](int) -> Future<int> { throw std::runtime_error("thrown"); });
  EXPECT_EQ(thrown.Wait().status(), absl::UnknownError("thrown"));
  const Future<int> empty = one.Then([](int) { return Future<int>(); });
  EXPECT_EQ(empty.Wait().status().code(), absl::StatusCode::kAborted);
}

TEST(ThenTest, PassesACancelOnToTheStepThatIsDue) {
  const Promise<int> first;
  const Promise<int> second;
  const Future<int> both = first.future().Then([&](int) { return second.future(); });
  first.Fulfil(1);
  both.RequestCancel();
  EXPECT_FALSE(first.cancel_requested());
  EXPECT_TRUE(second.cancel_requested());
}

Future<int> CountDown(int left) {
  return Future<int>::Ready(left).Then(
      [](int value) { return value == 0 ? Future<int>::Ready(0) : CountDown(value - 1); });
}

TEST(ThenTest, ARecursionOverReadyFuturesNeedsNoStack) {
  EXPECT_EQ(CountDown(100'000).Wait().value(), 0);
}

TEST(WhenAllTest, GivesTheValuesInTheOrderOfTheFutures) {
  const std::vector<Promise<int>> promises(3);
  const Future<std::vector<int>> all = WhenAll(FuturesOf(promises));
  promises[2].Fulfil(2);
  promises[0].Fulfil(0);
  EXPECT_FALSE(all.is_ready());
  promises[1].Fulfil(1);
  EXPECT_EQ(all.Wait().value(), std::vector<int>({0, 1, 2}));
}

TEST(WhenAllTest, WaitsForAllAndGivesTheErrorOfTheFirstThatFailed) {
  const std::vector<Promise<int>> promises(3);
  const Future<std::vector<int>> all = WhenAll(FuturesOf(promises));
  promises[2].Fulfil(absl::DataLossError("third"));
  promises[1].Fulfil(absl::NotFoundError("second"));
  EXPECT_FALSE(all.is_ready());
  promises[0].Fulfil(0);
  EXPECT_EQ(all.Wait().status(), absl::NotFoundError("second"));
}

TEST(WhenAllTest, OfNoneAndOfVoidAndOfMoveOnly) {
  EXPECT_TRUE(WhenAll(std::vector<Future<int>>()).Wait()->empty());
  EXPECT_EQ(WhenAll(std::vector<Future<void>>(3, Future<void>::Ready(absl::OkStatus()))).Wait(),
            absl::OkStatus());
  std::vector<Future<std::unique_ptr<int>>> owned;
  owned.push_back(Future<std::unique_ptr<int>>::Ready(std::make_unique<int>(4)));
  EXPECT_EQ(*WhenAll(std::move(owned)).Wait().value()[0], 4);
}

TEST(WhenAllTest, PassesACancelOnToAll) {
  const std::vector<Promise<int>> promises(3);
  const Future<std::vector<int>> all = WhenAll(FuturesOf(promises));
  all.RequestCancel();
  for (const Promise<int>& promise : promises) EXPECT_TRUE(promise.cancel_requested());
}

TEST(BarrierTest, WaitsForAllAndGivesTheErrorOfTheFirstThatFailed) {
  const std::vector<Promise<int>> promises(3);
  const Future<void> all = Barrier(FuturesOf(promises));
  promises[2].Fulfil(absl::DataLossError("third"));
  promises[1].Fulfil(absl::NotFoundError("second"));
  EXPECT_FALSE(all.is_ready());
  promises[0].Fulfil(0);
  EXPECT_EQ(all.Wait(), absl::NotFoundError("second"));
}

TEST(BarrierTest, TakesAnyContainerAndLeavesTheValuesToTheFutures) {
  std::list<Future<std::unique_ptr<int>>> owned;
  owned.push_back(Future<std::unique_ptr<int>>::Ready(std::make_unique<int>(4)));
  EXPECT_EQ(Barrier(owned).Wait(), absl::OkStatus());
  EXPECT_EQ(**owned.front().Wait(), 4);
  EXPECT_EQ(Barrier(std::array<Future<void>, 0>()).Wait(), absl::OkStatus());
}

TEST(BarrierTest, PassesACancelOnToAll) {
  const std::vector<Promise<int>> promises(3);
  const Future<void> all = Barrier(FuturesOf(promises));
  all.RequestCancel();
  for (const Promise<int>& promise : promises) EXPECT_TRUE(promise.cancel_requested());
}

TEST(MapAllTest, GivesTheValuesInTheOrderOfTheElements) {
  const std::vector<Promise<int>> promises(3);
  const Future<std::vector<int>> all = MapAll(std::vector<std::size_t>{2, 0, 1},
                                              [&](std::size_t i) { return promises[i].future(); });
  for (int i = 0; i < 3; ++i) promises[static_cast<std::size_t>(i)].Fulfil(i);
  EXPECT_EQ(all.Wait().value(), std::vector<int>({2, 0, 1}));
}

TEST(MapAllTest, ACallThatThrowsIsAFutureThatFailed) {
  const Promise<int> promise;
  const Future<std::vector<int>> all = MapAll(std::vector<int>{1, 2}, [&](int i) {
    if (i == 2) throw std::runtime_error("thrown");
    return promise.future();
  });
  EXPECT_FALSE(all.is_ready());
  promise.Fulfil(1);
  EXPECT_EQ(all.Wait().status(), absl::UnknownError("thrown"));
}

TEST(FlattenTest, GivesTheResultOfTheInnerFuture) {
  const Promise<Future<int>> outer;
  const Promise<int> inner;
  const Future<int> flat = Flatten(outer.future());
  outer.Fulfil(inner.future());
  EXPECT_FALSE(flat.is_ready());
  inner.Fulfil(3);
  EXPECT_EQ(flat.Wait().value(), 3);
  EXPECT_EQ(Flatten(Future<Future<int>>::Ready(absl::NotFoundError("x"))).Wait().status(),
            absl::NotFoundError("x"));
}

TEST(BothTest, GivesAPairOrTheFirstError) {
  const Promise<int> number;
  const Promise<std::unique_ptr<int>> owned;
  const Future<std::pair<int, std::unique_ptr<int>>> both = Both(number.future(), owned.future());
  owned.Fulfil(std::make_unique<int>(2));
  EXPECT_FALSE(both.is_ready());
  number.Fulfil(1);
  ASSERT_TRUE(both.Wait().ok());
  EXPECT_EQ(both.Wait()->first + *both.Wait()->second, 3);
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("gone"));
  EXPECT_EQ(Both(Future<int>::Ready(1), failed).Wait().status(), absl::NotFoundError("gone"));
}

class DelayTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  TimerQueue timers_{&clock_, TimerQueue::Drive::kManual};
};

TEST_F(DelayTest, ResolvesAtItsTime) {
  const Future<void> delay = Delay(timers_, absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), 0);
  EXPECT_FALSE(delay.is_ready());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(timers_.RunDue(), 1);
  EXPECT_EQ(delay.Wait(), absl::OkStatus());
}

TEST_F(DelayTest, CancelRemovesTheTimer) {
  const Future<void> delay = Delay(timers_, absl::Seconds(1));
  delay.RequestCancel();
  EXPECT_EQ(delay.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(timers_.size(), 0);
}

TEST(DelayOfADeadQueueTest, IsAborted) {
  Future<void> delay;
  {
    FakeClock clock;
    TimerQueue timers(&clock, TimerQueue::Drive::kManual);
    delay = Delay(timers, absl::Seconds(1));
  }
  EXPECT_EQ(delay.Wait().code(), absl::StatusCode::kAborted);
}

TEST_F(DelayTest, ATimeoutEndsTheWaitAndAsksToCancel) {
  const Promise<int> promise;
  const Future<int> limited = WithTimeout(timers_, absl::Seconds(1), promise.future());
  clock_.Advance(absl::Seconds(1));
  timers_.RunDue();
  EXPECT_EQ(limited.Wait().status(), absl::DeadlineExceededError("no result after 1s"));
  EXPECT_TRUE(promise.cancel_requested());
  promise.Fulfil(1);
}

TEST_F(DelayTest, AResultInTimeRemovesTheTimer) {
  const Promise<int> promise;
  const Future<int> limited = WithTimeout(timers_, absl::Seconds(1), promise.future());
  promise.Fulfil(1);
  EXPECT_EQ(limited.Wait().value(), 1);
  EXPECT_EQ(timers_.size(), 0);
}

}  // namespace
}  // namespace jackdaw
