// Futures that wait for one of several: WhenAny, Race, FirstSuccess, Choose.

#include "scheduler/async/future_any.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

template <typename T>
std::vector<Future<T>> FuturesOf(const std::vector<Promise<T>>& promises) {
  std::vector<Future<T>> futures;
  for (const Promise<T>& promise : promises) futures.push_back(promise.future());
  return futures;
}

TEST(WhenAnyTest, GivesTheFirstAndLeavesTheOthersAlone) {
  const std::vector<Promise<int>> promises(3);
  const Future<First<int>> any = WhenAny(FuturesOf(promises));
  promises[1].Fulfil(absl::NotFoundError("an error is a result"));
  ASSERT_TRUE(any.is_ready());
  EXPECT_EQ(any.Wait()->index, 1u);
  EXPECT_EQ(any.Wait()->result.status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(promises[0].cancel_requested());
  promises[0].Fulfil(7);
  EXPECT_EQ(promises[0].future().Wait().value(), 7);
}

TEST(WhenAnyTest, OfNoneIsAnError) {
  EXPECT_EQ(WhenAny(std::vector<Future<int>>()).Wait().status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RaceTest, CancelsTheLosers) {
  const std::vector<Promise<int>> promises(3);
  const Future<int> race = Race(FuturesOf(promises));
  promises[2].Fulfil(5);
  EXPECT_EQ(race.Wait().value(), 5);
  EXPECT_TRUE(promises[0].cancel_requested());
  EXPECT_TRUE(promises[1].cancel_requested());
}

TEST(FirstSuccessTest, GivesTheFirstValueAndPassesErrorsBy) {
  const std::vector<Promise<int>> promises(3);
  const Future<int> first = FirstSuccess(FuturesOf(promises));
  promises[0].Fulfil(absl::NotFoundError("not here"));
  EXPECT_FALSE(first.is_ready());
  promises[2].Fulfil(7);
  EXPECT_EQ(first.Wait().value(), 7);
  promises[1].Fulfil(8);
  EXPECT_EQ(first.Wait().value(), 7);
}

TEST(FirstSuccessTest, WhenAllFailGivesTheErrorOfTheFirstInTheirOrder) {
  const std::vector<Promise<int>> promises(2);
  const Future<int> first = FirstSuccess(FuturesOf(promises));
  promises[1].Fulfil(absl::DataLossError("second"));
  promises[0].Fulfil(absl::NotFoundError("first"));
  EXPECT_EQ(first.Wait().status(), absl::NotFoundError("first"));
}

TEST(FirstSuccessTest, OfNoneIsAnError) {
  EXPECT_EQ(FirstSuccess(std::vector<Future<int>>()).Wait().status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FirstSuccessTest, PassesACancelOnToAll) {
  const std::vector<Promise<int>> promises(2);
  const Future<int> first = FirstSuccess(FuturesOf(promises));
  first.RequestCancel();
  EXPECT_TRUE(promises[0].cancel_requested());
  EXPECT_TRUE(promises[1].cancel_requested());
}

TEST(ChooseTest, GivesTheValueOfWhicheverSucceedsFirst) {
  const Promise<std::unique_ptr<int>> owned;
  const Promise<std::string> text;
  Future<std::variant<std::unique_ptr<int>, std::string>> chosen =
      Choose(owned.future(), text.future());
  text.Fulfil(absl::NotFoundError("no text"));
  EXPECT_FALSE(chosen.is_ready());
  owned.Fulfil(std::make_unique<int>(3));
  ASSERT_TRUE(chosen.is_success());
  EXPECT_EQ(*std::get<0>(**chosen.Peek()), 3);
}

TEST(ChooseTest, TellsTwoOfOneTypeAndVoidApart) {
  const Promise<void> a;
  const Promise<void> b;
  const Future<std::variant<std::monostate, std::monostate>> chosen =
      Choose(a.future(), b.future());
  b.Fulfil();
  ASSERT_TRUE(chosen.is_success());
  EXPECT_EQ((*chosen.Peek())->index(), 1u);
}

}  // namespace
}  // namespace jackdaw
