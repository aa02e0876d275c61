// Groups of fibers at 0, 1, 2 and 8 workers: what they give, and that nobody is left behind.

#include "scheduler/async/fiber_groups.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Body = std::function<CoTask<int>()>;

Body Giving(int value) {
  return [value]() -> CoTask<int> {
    co_await Yield();
    co_return value;
  };
}

Body FailingWith(absl::Status status) {
  return [status]() -> CoTask<int> {
    co_await Yield();
    co_return status;
  };
}

// Waits until it is cancelled, and counts itself in `over` then.
Body WaitingForEver(const Promise<void>& never, std::atomic<int>& over) {
  return [gate = never.future(), &over]() -> CoTask<int> {
    const absl::Status status = co_await gate;
    ++over;
    co_return status;
  };
}

class FiberGroupsTest : public AtWorkerCounts {
 protected:
  template <typename T>
  FutureResult<ResultValue<T>> Run(CoTask<T> group) {
    auto future = Spawn(pool_, std::move(group));
    (void)Settle(pool_, future);
    return std::move(future).Take();
  }
  const Promise<void> never_;
  std::atomic<int> over_{0};
};
INSTANTIATE_TEST_SUITE_P(Workers, FiberGroupsTest, ::testing::Values(0, 1, 2, 8));

TEST_P(FiberGroupsTest, AllOfGivesTheValuesInOrder) {
  std::vector<Body> bodies = {Giving(1), Giving(2), Giving(3)};
  EXPECT_THAT(Run(AllOf(std::move(bodies))).value(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Run(AllOf(std::vector<Body>())).value(), ElementsAre());
  std::vector<std::function<void()>> plain(3, [this] { ++over_; });
  EXPECT_EQ(Run(AllOf(std::move(plain))), absl::OkStatus());
  EXPECT_EQ(over_, 3);
}

TEST_P(FiberGroupsTest, AllOfTakesWhatCannotBeCopied) {
  const auto make = [] { return std::make_unique<int>(7); };
  const auto pointers = Run(AllOf(std::vector(2, make)));
  ASSERT_TRUE(pointers.ok());
  EXPECT_EQ(*pointers->at(1), 7);
}

TEST_P(FiberGroupsTest, AllOfFailsWithTheFirstAndCancelsTheOthers) {
  std::vector<Body> bodies = {WaitingForEver(never_, over_),
                              FailingWith(absl::NotFoundError("no page")),
                              WaitingForEver(never_, over_)};
  EXPECT_EQ(Run(AllOf(std::move(bodies))).status(), absl::NotFoundError("no page"));
  EXPECT_LE(over_, 2);  // Who had not begun never does.
}

TEST_P(FiberGroupsTest, BothOfGivesAPair) {
  const auto both = Run(BothOf(Giving(1), [] { return std::string("two"); }));
  EXPECT_EQ(both.value(), std::pair(1, std::string("two")));
  const auto failed = Run(
      BothOf(WaitingForEver(never_, over_), []() -> int { throw std::runtime_error("thrown"); }));
  EXPECT_EQ(failed.status(), absl::UnknownError("thrown"));
}

TEST_P(FiberGroupsTest, AnyOfGivesTheFirstToEndBeItAnError) {
  std::vector<Body> bodies = {WaitingForEver(never_, over_), Giving(2)};
  EXPECT_EQ(Run(AnyOf(std::move(bodies))).value(), 2);
  std::vector<Body> failing = {WaitingForEver(never_, over_),
                               FailingWith(absl::NotFoundError("no page"))};
  EXPECT_EQ(Run(AnyOf(std::move(failing))).status(), absl::NotFoundError("no page"));
}

TEST_P(FiberGroupsTest, FirstOfGivesTheFirstToSucceed) {
  std::vector<Body> bodies = {FailingWith(absl::NotFoundError("no page")), Giving(2),
                              WaitingForEver(never_, over_)};
  EXPECT_EQ(Run(FirstOf(std::move(bodies))).value(), 2);
}

TEST_P(FiberGroupsTest, FirstOfFailsWithAllErrorsWhereAllFailed) {
  std::vector<Body> bodies = {FailingWith(absl::NotFoundError("a")),
                              FailingWith(absl::NotFoundError("b"))};
  const absl::Status failed = Run(FirstOf(std::move(bodies))).status();
  EXPECT_TRUE(absl::IsNotFound(failed));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("(and 1 more: NOT_FOUND: "));
}

TEST_P(FiberGroupsTest, AContestOfNobodyIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Run(AnyOf(std::vector<Body>())).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Run(FirstOf(std::vector<Body>())).status()));
}

// The losers have ended when the winner's value is given: nobody works on behind one's back.
TEST_P(FiberGroupsTest, LosersHaveEndedBefore) {
  const Promise<void> began;
  std::atomic<bool> cleaned_up{false};
  const auto loser = [&, gate = never_.future()]() -> CoTask<int> {
    began.Fulfil();
    const absl::Status status = co_await gate;
    co_await Yield();
    cleaned_up = true;
    co_return status;
  };
  const auto winner = [gate = began.future()]() -> CoTask<int> {
    co_await gate;
    co_return 1;
  };
  const Future<bool> clean = Spawn(pool_, [&]() -> CoTask<bool> {
    std::vector<Body> bodies = {loser, winner};
    auto group = FirstOf(std::move(bodies));
    const absl::StatusOr<int> first = co_await group;
    co_return first.ok() && *first == 1 && cleaned_up.load();
  });
  EXPECT_TRUE(Settle(pool_, clean).value());
}

TEST_P(FiberGroupsTest, MaxInFlightGivesAllInOrderAndNoMoreAtATime) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::vector<int> items;
  for (int i = 0; i < 50; ++i) items.push_back(i);
  const auto square = [&](int item) -> CoTask<int> {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
    co_await Yield();
    --running;
    co_return item* item;
  };
  const auto squares = Run(MaxInFlight(3, items, square));
  ASSERT_TRUE(squares.ok()) << squares.status();
  ASSERT_EQ(squares->size(), items.size());
  for (int i : items) EXPECT_EQ((*squares)[static_cast<std::size_t>(i)], i * i);
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 1);
}

TEST_P(FiberGroupsTest, MaxInFlightBeginsNoFurtherOneAfterAFailure) {
  std::atomic<int> begun{0};
  const auto fail = [&](int) -> CoTask<absl::Status> {
    ++begun;
    co_return absl::NotFoundError("no page");
  };
  EXPECT_EQ(Run(MaxInFlight(2, std::vector<int>(50), fail)), absl::NotFoundError("no page"));
  EXPECT_LE(begun, 2);
}

// What was not done is missing: there are no values to give, and no success either.
TEST_P(FiberGroupsTest, ACancelFromAroundIsTheResult) {
  const auto wait = [this](int) -> CoTask<absl::Status> {
    const Future<void> gate = never_.future();
    (void)co_await gate;
    co_return absl::OkStatus();
  };
  const auto give = [this](int) -> CoTask<int> {
    const Future<void> gate = never_.future();
    (void)co_await gate;
    co_return 1;
  };
  const Fiber<void> nothing = SpawnFiber(pool_, MaxInFlight(2, std::vector<int>(50), wait));
  const Fiber<std::vector<int>> values =
      SpawnFiber(pool_, MaxInFlight(2, std::vector<int>(50), give));
  std::vector<Body> bodies(3, WaitingForEver(never_, over_));
  const Fiber<std::vector<int>> all = SpawnFiber(pool_, AllOf(bodies));
  const Fiber<int> any = SpawnFiber(pool_, AnyOf(bodies));
  if (GetParam() == 0) pool_.RunUntilIdle();
  nothing.Cancel();
  values.Cancel();
  all.Cancel();
  any.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Settle(pool_, nothing.future())));
  EXPECT_TRUE(absl::IsCancelled(Settle(pool_, values.future()).status()));
  EXPECT_TRUE(absl::IsCancelled(Settle(pool_, all.future()).status()));
  EXPECT_TRUE(absl::IsCancelled(Settle(pool_, any.future()).status()));
}

// The debug mode of fibers has nothing to say about groups, which await their own.
TEST(FiberGroupsWatchedTest, AwaitTheirFibers) {
  ManualRunner runner;
  std::vector<std::string> reports;
  const Fiber<void> root =
      SpawnFiber(runner,
                 []() -> CoTask<void> {
                   std::vector<Body> bodies = {Giving(1), Giving(2)};
                   auto all = AllOf(bodies);
                   (void)co_await all;
                   auto first = FirstOf(bodies);
                   (void)co_await first;
                   auto both = BothOf(Giving(1), Giving(2));
                   (void)co_await both;
                   const auto give = [](int item) -> CoTask<int> { co_return item; };
                   auto some = MaxInFlight(2, std::vector<int>(5), give);
                   (void)co_await some;
                 },
                 {.on_unawaited = [&](absl::string_view report) { reports.emplace_back(report); }});
  runner.RunAll();
  EXPECT_TRUE(root.is_success());
  EXPECT_THAT(reports, ElementsAre());
}

}  // namespace
}  // namespace jackdaw
