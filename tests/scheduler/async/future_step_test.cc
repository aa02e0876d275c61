// The steps of a future beyond Map() and Then(): whole results, other runners, looks that do
// not wait; and the guard against a wait that could never end.

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future_combine.h"
#include "scheduler/async/on.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

TEST(FutureLookTest, TellsSuccessFailureAndNeitherApart) {
  const Promise<int> promise;
  const Future<int> future = promise.future();
  EXPECT_FALSE(future.is_success());
  EXPECT_FALSE(future.is_failed());
  EXPECT_EQ(future.PeekOrError().status().code(), absl::StatusCode::kFailedPrecondition);
  promise.Fulfil(4);
  EXPECT_TRUE(future.is_success());
  EXPECT_FALSE(future.is_failed());
  EXPECT_EQ(future.PeekOrError().value(), 4);
  const Future<void> failed = Future<void>::Ready(absl::NotFoundError("x"));
  EXPECT_FALSE(failed.is_success());
  EXPECT_TRUE(failed.is_failed());
  EXPECT_EQ(failed.PeekOrError(), absl::NotFoundError("x"));
}

TEST(PromiseTest, IsWantedWhileAnybodyHoldsItsFutureOrWaitsForIt) {
  const Promise<int> promise;
  EXPECT_FALSE(promise.is_wanted());
  Future<int> future = promise.future();
  EXPECT_TRUE(promise.is_wanted());
  const Future<int> mapped = std::move(future).Map([](int value) { return value; });
  future = Future<int>();
  EXPECT_TRUE(promise.is_wanted());
  promise.Fulfil(1);
  EXPECT_FALSE(promise.is_wanted());
}

// As on the stack of a thread that waits for another one's answer.
TEST(PromiseTest, MayDieAsSoonAsItsFutureIsReady) {
  WorkStealingPool pool({.name = "compute", .workers = 2});
  for (int round = 0; round < 1000; ++round) {
    auto promise = std::make_unique<Promise<int>>();
    const Future<int> future = promise->future();
    ASSERT_TRUE(pool.Run([fulfils = promise.get()] { fulfils->Fulfil(1); }).ok());
    while (!future.is_ready()) std::this_thread::yield();
    promise.reset();
    EXPECT_EQ(future.Wait().value(), 1);
  }
}

TEST(MapResultTest, TurnsAnErrorIntoAValue) {
  const Promise<int> promise;
  const Future<std::string> text = promise.future().MapResult(
      [](const absl::StatusOr<int>& result) { return std::string(result.status().message()); });
  promise.Fulfil(absl::NotFoundError("gone"));
  EXPECT_EQ(text.Wait().value(), "gone");
}

TEST(MapResultTest, SeesValuesAndStatusesAndMayFail) {
  const Future<int> one = Future<int>::Ready(1);
  EXPECT_EQ(one.MapResult([](const absl::StatusOr<int>& r) { return *r + 1; }).Wait().value(), 2);
  const Future<void> lost = Future<void>::Ready(absl::DataLossError("x"));
  EXPECT_EQ(lost.MapResult([](const absl::Status& s) { return s.ok(); }).Wait().value(), false);
  EXPECT_EQ(
      one.MapResult([](const absl::StatusOr<int>&) { return absl::AbortedError("y"); }).Wait(),
      absl::AbortedError("y"));
  EXPECT_EQ(one.MapResult([](const absl::StatusOr<int>&) { throw std::runtime_error("z"); }).Wait(),
            absl::UnknownError("z"));
}

TEST(MapResultTest, TakesAMoveOnlyValueFromAnRvalue) {
  Future<std::unique_ptr<int>> owned =
      Future<std::unique_ptr<int>>::Ready(std::make_unique<int>(1));
  const Future<int> mapped = std::move(owned).MapResult(
      [](absl::StatusOr<std::unique_ptr<int>> result) { return **std::move(result); });
  EXPECT_EQ(mapped.Wait().value(), 1);
}

TEST(ThenResultTest, GoesOnAfterAnErrorWithAnotherFuture) {
  const Promise<int> first;
  const Promise<int> second;
  const Future<int> either = first.future().ThenResult([&](const absl::StatusOr<int>& r) {
    return r.ok() ? Future<int>::Ready(r) : second.future();
  });
  first.Fulfil(absl::UnavailableError("try the other"));
  EXPECT_FALSE(either.is_ready());
  second.Fulfil(2);
  EXPECT_EQ(either.Wait().value(), 2);
}

TEST(ThenResultTest, PassesACancelOnToTheStepThatIsDue) {
  const Promise<int> first;
  const Promise<int> second;
  const Future<int> both =
      first.future().ThenResult([&](const absl::StatusOr<int>&) { return second.future(); });
  both.RequestCancel();
  EXPECT_TRUE(first.cancel_requested());
  first.Fulfil(absl::CancelledError("as asked"));
  EXPECT_TRUE(second.cancel_requested());
}

// A step on another runner, whatever its function gives.
class OnTest : public ::testing::Test {
 protected:
  ManualRunner runner_;
};

TEST_F(OnTest, RunsAMapThere) {
  const Promise<int> promise;
  const Future<std::string> text = promise.future().Then(On(runner_, [this](int value) {
    EXPECT_EQ(Runner::Current(), &runner_);
    return absl::StrCat(value);
  }));
  promise.Fulfil(42);
  EXPECT_FALSE(text.is_ready());
  EXPECT_EQ(runner_.RunAll(), 1);
  EXPECT_EQ(text.Wait().value(), "42");
}

TEST_F(OnTest, RunsABindThere) {
  const Promise<int> inner;
  const Future<int> bound = Future<int>::Ready(1).Then(On(runner_, [&](int) {
    EXPECT_EQ(Runner::Current(), &runner_);
    return inner.future();
  }));
  runner_.RunAll();
  EXPECT_FALSE(bound.is_ready());
  inner.Fulfil(5);
  EXPECT_EQ(bound.Wait().value(), 5);
}

TEST_F(OnTest, RunsACoroutineThereWhichMayUseItsArguments) {
  const Future<std::string> text =
      Future<std::string>::Ready(std::string(64, 'x'))
          .Then(On(runner_, [](const std::string& s) -> CoTask<std::string> {
            co_await Yield();
            co_return s + "!";
          }));
  runner_.RunAll();
  EXPECT_EQ(text.Wait().value(), std::string(64, 'x') + "!");
}

TEST_F(OnTest, TakesWholeResultsAndPairsAndNothing) {
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("x"));
  const Future<bool> ok =
      failed.ThenResult(On(runner_, [](const absl::StatusOr<int>& r) { return r.ok(); }));
  const Future<int> sum =
      Both(Future<int>::Ready(1), Future<int>::Ready(2))
          .Then(On(runner_, [](const std::pair<int, int>& p) { return p.first + p.second; }));
  const Future<int> after_void =
      Future<void>::Ready(absl::OkStatus()).Then(On(runner_, [] { return 7; }));
  runner_.RunAll();
  EXPECT_EQ(ok.Wait().value(), false);
  EXPECT_EQ(sum.Wait().value(), 3);
  EXPECT_EQ(after_void.Wait().value(), 7);
}

TEST_F(OnTest, ErrorsOfTheRunnerAndOfTheSourcePass) {
  const Future<int> failed = Future<int>::Ready(absl::NotFoundError("x"));
  EXPECT_EQ(failed.Then(On(runner_, [](int) { return 1; })).Wait().status(),
            absl::NotFoundError("x"));
  EXPECT_EQ(runner_.RunAll(), 0);
  runner_.ShutdownAndWait(ShutdownMode::kDrain);
  const Future<int> refused = Future<int>::Ready(1).Then(On(runner_, [](int) { return 1; }));
  EXPECT_TRUE(absl::IsUnavailable(refused.Wait().status()));
}

TEST_F(OnTest, SpawnHereSpawnsWhereTheCallerRuns) {
  EXPECT_EQ(SpawnHere([] { return 1; }).Wait().status().code(),
            absl::StatusCode::kFailedPrecondition);
  const Future<int> outer = Flatten(Spawn(runner_, [this] {
    return SpawnHere([this] {
      EXPECT_EQ(Runner::Current(), &runner_);
      return 2;
    });
  }));
  EXPECT_EQ(runner_.RunAll(), 2);
  EXPECT_EQ(outer.Wait().value(), 2);
}

// C 29: a future of several knows whose workers it needs as well.
TEST(WaitTest, ForSeveralOnAWorkerOfTheirRunnerIsRefused) {
  WorkStealingPool pool({.name = "compute", .workers = 1});
  const Future<int> outer = Spawn(pool, [&pool] {
    std::vector<Future<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(Spawn(pool, [i] { return i; }));
    EXPECT_EQ(WhenAll(parts).Wait().status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(Barrier(parts).Wait().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(Both(parts[0], parts[1]).Wait().status().code(),
              absl::StatusCode::kFailedPrecondition);
    return 1;
  });
  EXPECT_EQ(outer.Wait().value(), 1);
}

}  // namespace
}  // namespace jackdaw
