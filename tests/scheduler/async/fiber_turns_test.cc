// No fiber starves, however the others behave: those that wake each other for ever, that await
// only what is ready, that only give way. Method: some fibers go on until others, queued behind
// them, have ended; on a runner of one thread. One that starves the others never ends, and the
// test with it.

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "scheduler/async/channel.h"
#include "scheduler/async/fiber.h"
#include "scheduler/async/scope.h"
#include "scheduler/pool/background_thread.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "tests/support/manual_runner.h"

namespace jackdaw {
namespace {

constexpr int kOthers = 100;

class FiberTurnsTest : public ::testing::Test {
 protected:
  // Runs the fibers of `selfish` and then kOthers that end `left_`.
  void RunWith(Runner& runner, std::vector<std::function<CoTask<void>()>> selfish) {
    const Fiber<void> root = SpawnFiber(runner, [&]() -> CoTask<void> {
      for (auto& body : selfish) SpawnChild(std::move(body)).Ignore();
      for (int i = 0; i < kOthers; ++i) {
        SpawnChild([&]() -> CoTask<void> {
          for (int turn = 0; turn < 5; ++turn) co_await Yield();
          --left_;
        }).Ignore();
      }
      co_return;
    });
    EXPECT_EQ(root.Wait(), absl::OkStatus());
    EXPECT_EQ(left_, 0);
  }
  void OnEachRunner(const std::function<std::vector<std::function<CoTask<void>()>>()>& make) {
    WorkStealingPool pool({.name = "compute", .workers = 1});
    RunWith(pool, make());
    left_ = kOthers;
    BackgroundThread thread({.name = "owner"});
    RunWith(thread, make());
  }
  std::atomic<int> left_{kOthers};
};

TEST_F(FiberTurnsTest, APairThatWakesEachOther) {
  Channel<int> there(0);
  Channel<int> back(0);
  const auto serve = [&](Channel<int>& from, Channel<int>& to) {
    return [&from, &to]() -> CoTask<void> {
      for (;;) {
        const Future<int> popping = from.Pop();
        const absl::StatusOr<int>& ball = co_await popping;
        if (!ball.ok()) break;
        const Future<void> pushing = to.Push(*ball);
        const absl::Status& pushed = co_await pushing;
        if (!pushed.ok()) break;
      }
    };
  };
  const auto begin = [&]() -> CoTask<void> {
    const Future<void> serving = there.Push(1);
    (void)co_await serving;
    while (left_ > 0) {
      const Future<int> popping = back.Pop();
      (void)co_await popping;
      const Future<void> pushing = there.Push(1);
      (void)co_await pushing;
    }
    there.Close();
    back.Close();
  };
  WorkStealingPool pool({.name = "compute", .workers = 1});
  RunWith(pool, {serve(there, back), begin});
}

TEST_F(FiberTurnsTest, OneThatAwaitsOnlyWhatIsReady) {
  OnEachRunner([this]() -> std::vector<std::function<CoTask<void>()>> {
    return {[this]() -> CoTask<void> {
      const Future<void> ready = Future<void>::Ready(absl::OkStatus());
      while (left_ > 0) (void)co_await ready;
    }};
  });
}

TEST_F(FiberTurnsTest, OneThatAwaitsAFiberThatIsDone) {
  OnEachRunner([this]() -> std::vector<std::function<CoTask<void>()>> {
    return {[this]() -> CoTask<void> {
      const Fiber<int> done = SpawnChild([] { return 1; });
      while (left_ > 0) (void)co_await done;
    }};
  });
}

TEST_F(FiberTurnsTest, OneThatOnlyGivesWay) {
  OnEachRunner([this]() -> std::vector<std::function<CoTask<void>()>> {
    return {[this]() -> CoTask<void> {
              while (left_ > 0) (void)co_await Checkpoint();
            },
            [this]() -> CoTask<void> {
              while (left_ > 0) co_await Yield();
            }};
  });
}

// It has seen its cancel, and awaits what is ready all the same.
TEST_F(FiberTurnsTest, OneThatIsCancelled) {
  OnEachRunner([this]() -> std::vector<std::function<CoTask<void>()>> {
    return {[this]() -> CoTask<void> {
      ThisFiber::Node().Cancel(CancelRequestedError());
      const Future<void> ready = Future<void>::Ready(absl::OkStatus());
      while (left_ > 0) (void)co_await ready;
    }};
  });
}

// In a protected section of a cancelled fiber a checkpoint is one as in any other.
TEST_F(FiberTurnsTest, OneThatIsShieldedFromItsCancel) {
  OnEachRunner([this]() -> std::vector<std::function<CoTask<void>()>> {
    return {[this]() -> CoTask<void> {
      ThisFiber::Node().Cancel(CancelRequestedError());
      auto run = Scope::RunShielded([this](Scope&) -> CoTask<void> {
        while (left_ > 0) {
          const absl::Status status = co_await Checkpoint();
          const bool requested = co_await CancelRequested();
          EXPECT_TRUE(status.ok() && !requested);
        }
      });
      (void)co_await run;
    }};
  });
}

// In the order of their turns: none is ever more than one ahead.
TEST(FiberOrderTest, FibersThatGiveWayTakeTurns) {
  constexpr int kFibers = 20;
  constexpr int kTurns = 50;
  ManualRunner runner;
  std::vector<int> turns(kFibers, 0);
  bool in_step = true;
  const Fiber<void> root = SpawnFiber(runner, [&] {
    for (int& mine : turns) {
      SpawnChild([&]() -> CoTask<void> {
        for (int turn = 0; turn < kTurns; ++turn) {
          ++mine;
          const auto [least, most] = std::minmax_element(turns.begin(), turns.end());
          if (*most - *least > 1) in_step = false;
          co_await Yield();
        }
      }).Ignore();
    }
  });
  runner.RunAll();
  EXPECT_TRUE(root.is_success());
  EXPECT_TRUE(in_step);
}

// A coroutine that is no fiber has no turns: what is ready costs it none.
TEST(FiberOrderTest, APlainCoroutineGoesOnWithWhatIsReady) {
  ManualRunner runner;
  const auto loop = []() -> CoTask<void> {
    const Future<void> ready = Future<void>::Ready(absl::OkStatus());
    for (int i = 0; i < 10 * CoRun::kReadyAwaits; ++i) (void)co_await ready;
  };
  const Future<void> plain = Spawn(runner, loop());
  EXPECT_EQ(runner.RunAll(), 1);
  EXPECT_TRUE(plain.is_success());
  const Fiber<void> fiber = SpawnFiber(runner, loop());
  EXPECT_EQ(runner.RunAll(), 10);
  EXPECT_TRUE(fiber.is_success());
}

}  // namespace
}  // namespace jackdaw
