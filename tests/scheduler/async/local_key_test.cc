// Local values at 0, 1, 2 and 8 workers: inherited at spawn, each task's own after that, and
// back in place wherever a coroutine is resumed.

#include "scheduler/async/local_key.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future_combine.h"
#include "tests/scheduler/async/settle.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

using LocalKeyTest = AtWorkerCounts;
INSTANTIATE_TEST_SUITE_P(Workers, LocalKeyTest, ::testing::Values(0, 1, 2, 8));

const LocalKey<std::string> kName;
const LocalKey<int> kNumber;

TEST(LocalKeyOnAThreadTest, IsNotFoundUntilSet) {
  EXPECT_EQ(kName.TryGet(), nullptr);
  EXPECT_TRUE(absl::IsNotFound(kName.Get().status()));
  EXPECT_EQ(kName.GetOr("none"), "none");
  kName.Set("main");
  EXPECT_EQ(kName.Get().value(), "main");
  EXPECT_EQ(*kName.TryGet(), "main");
  EXPECT_EQ(kName.GetOr("none"), "main");
  kName.Clear();
  EXPECT_EQ(kName.TryGet(), nullptr);
}

TEST(LocalKeyOnAThreadTest, WithEndsWithTheCall) {
  kNumber.Set(1);
  const int inner = kNumber.With(2, [] {
    EXPECT_EQ(kNumber.With(3, [] { return kNumber.GetOr(0); }), 3);
    return kNumber.GetOr(0);
  });
  EXPECT_EQ(inner, 2);
  EXPECT_EQ(kNumber.GetOr(0), 1);
  EXPECT_THROW(kNumber.With(4, [] { throw 1; }), int);
  EXPECT_EQ(kNumber.GetOr(0), 1);
  kNumber.Clear();
}

TEST(LocalKeyOnAThreadTest, IsNotThatOfAnotherThread) {
  kNumber.Set(1);
  std::thread([] { EXPECT_EQ(kNumber.GetOr(0), 0); }).join();
  kNumber.Clear();
}

TEST_P(LocalKeyTest, IsInheritedAtSpawnByFunctionsAndCoroutines) {
  const auto [function, coroutine] = kNumber.With(5, [&] {
    return std::pair(Spawn(pool_, [] { return kNumber.GetOr(0); }),
                     Spawn(pool_, []() -> CoTask<int> { co_return kNumber.GetOr(0); }));
  });
  EXPECT_EQ(Settle(pool_, function).value(), 5);
  EXPECT_EQ(Settle(pool_, coroutine).value(), 5);
}

TEST_P(LocalKeyTest, ChangesGoNeitherUpNorDownLater) {
  const Future<int> parent = Spawn(pool_, [this]() -> CoTask<int> {
    kNumber.Set(1);
    const Promise<void> gate;
    const Future<int> child = Spawn(pool_, [opened = gate.future()]() -> CoTask<int> {
      co_await opened;
      const int seen = kNumber.GetOr(0);
      kNumber.Set(100);
      co_return seen;
    });
    kNumber.Set(2);
    gate.Fulfil();
    const absl::StatusOr<int>& seen = co_await child;
    co_return *seen * 10 + kNumber.GetOr(0);
  });
  EXPECT_EQ(Settle(pool_, parent).value(), 12);
}

// What a worker ran before leaves nothing behind for what it runs next.
TEST_P(LocalKeyTest, IsGoneWithItsTask) {
  (void)Settle(pool_, Spawn(pool_, [] { kNumber.Set(7); }));
  (void)Settle(pool_, Spawn(pool_, []() -> CoTask<void> {
                 kNumber.Set(8);
                 co_return;
               }));
  EXPECT_EQ(Settle(pool_, Spawn(pool_, [] { return kNumber.GetOr(0); })).value(), 0);
}

CoTask<int> CountMismatches(int mine, Future<void> gate) {
  int mismatches = 0;
  kNumber.Set(mine);
  co_await gate;
  for (int i = 0; i < 20; ++i) {
    if (kNumber.GetOr(-1) != mine) ++mismatches;
    co_await Yield();
  }
  co_return mismatches;
}

// Two hundred coroutines that change threads between each look.
TEST_P(LocalKeyTest, IsBackInPlaceWhereverItsCoroutineResumes) {
  const Promise<void> gate;
  std::vector<Future<int>> counts;
  for (int i = 0; i < 200; ++i) counts.push_back(Spawn(pool_, CountMismatches(i, gate.future())));
  if (GetParam() == 0) pool_.RunUntilIdle();
  gate.Fulfil();
  const Future<std::vector<int>> all = WhenAll(counts);
  EXPECT_EQ(Settle(pool_, all).value(), std::vector<int>(200, 0));
}

TEST_P(LocalKeyTest, WithACoroutineBindsItWhileThatRuns) {
  const Future<std::string> text = Spawn(pool_, []() -> CoTask<std::string> {
    kName.Set("outer");
    auto bound = kName.With("inner", []() -> CoTask<std::string> {
      co_await Yield();
      co_return kName.GetOr("none");
    });
    const absl::StatusOr<std::string> inner = co_await bound;
    co_return *inner + " " + kName.GetOr("none");
  });
  EXPECT_EQ(Settle(pool_, text).value(), "inner outer");
}

TEST(LocalKeyDeathTest, TooManyKeysAreABug) {
  const auto make_many = [] {
    std::vector<std::unique_ptr<LocalKey<int>>> keys;
    for (std::uint32_t i = 0; i <= kMaxLocalKeys; ++i) {
      keys.push_back(std::make_unique<LocalKey<int>>());
    }
  };
  EXPECT_DEATH(make_many(), "local keys");
}

// A value dies with the last task that has it, also where the task is dropped.
TEST(LocalKeyLifetimeTest, ValuesDieWithTheirTasks) {
  static const LocalKey<std::shared_ptr<int>> kOwned;
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = owned;
  {
    ManualRunner runner;
    Future<void> waits;
    const Promise<void> gate;
    kOwned
        .With(std::move(owned),
              [&] {
                waits =
                    Spawn(runner, [opened = gate.future()]() -> CoTask<void> { co_await opened; });
                return Spawn(runner, [] {});
              })
        .RequestCancel();
    runner.RunAll();
    EXPECT_FALSE(watch.expired());
    runner.ShutdownAndWait(ShutdownMode::kCancel);
    gate.Fulfil();
    EXPECT_TRUE(absl::IsUnavailable(waits.Wait()));
    EXPECT_TRUE(watch.expired());
  }
}

}  // namespace
}  // namespace jackdaw
