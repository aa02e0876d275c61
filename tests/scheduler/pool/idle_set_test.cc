// The idle set by examples, one thread at a time as far as that goes. Its interleavings are
// in tests/model.

#include "scheduler/pool/idle_set.h"

#include <sched.h>

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Parked = IdleSet::Parked;
constexpr auto kSleep = [](const IdleSet::Announced&) { return false; };
constexpr auto kNoMoreWork = [] { return false; };
constexpr auto kMoreWork = [] { return true; };

void AwaitParkedCount(const IdleSet& idle, int count) {
  while (idle.parked() != count) sched_yield();
}

TEST(IdleSetTest, AtMostHalfOfTheWorkersSearch) {
  IdleSet idle(8);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(idle.TryStartSearching());
  EXPECT_FALSE(idle.TryStartSearching());
  EXPECT_EQ(idle.searching(), 4);
  idle.StopSearching(kNoMoreWork);
  EXPECT_TRUE(idle.TryStartSearching());
}

TEST(IdleSetTest, OneWorkerMaySearchEvenIfItIsTheOnlyOne) {
  IdleSet idle(1);
  EXPECT_TRUE(idle.TryStartSearching());
  EXPECT_FALSE(idle.TryStartSearching());
}

TEST(IdleSetTest, ParkWithdrawsWhenSomethingIsVisible) {
  IdleSet idle(2);
  ASSERT_TRUE(idle.TryStartSearching());
  EXPECT_EQ(idle.Park(0, true,
                      [&](const auto&) {
                        EXPECT_EQ(idle.parked(), 1) << "announced before it looks";
                        EXPECT_EQ(idle.searching(), 0);
                        return true;
                      }),
            Parked::kWithdrew);
  EXPECT_EQ(idle.parked(), 0);
  EXPECT_EQ(idle.searching(), 1);
}

TEST(IdleSetTest, LastToAnnounceLearnsThatAllAreParked) {
  IdleSet idle(2);
  std::thread first([&] {
    EXPECT_EQ(idle.Park(0, false,
                        [&](const IdleSet::Announced& announced) {
                          EXPECT_FALSE(announced.all_parked);
                          EXPECT_FALSE(idle.AllStayedParked(announced));
                          return false;
                        }),
              Parked::kWoken);
  });
  AwaitParkedCount(idle, 1);
  EXPECT_EQ(idle.Park(1, false,
                      [&](const IdleSet::Announced& announced) {
                        EXPECT_TRUE(announced.all_parked);
                        EXPECT_TRUE(idle.AllStayedParked(announced));
                        EXPECT_TRUE(idle.WakeWorker(0));
                        EXPECT_FALSE(idle.AllStayedParked(announced));
                        return true;
                      }),
            Parked::kWithdrew);
  idle.WakeAll();
  first.join();
}

TEST(IdleSetTest, WokenWorkerIsCountedAsSearching) {
  IdleSet idle(2);
  std::thread sleeper([&] { EXPECT_EQ(idle.Park(0, false, kSleep), Parked::kWoken); });
  AwaitParkedCount(idle, 1);
  idle.NotifyWork();
  sleeper.join();
  EXPECT_EQ(idle.searching(), 1);
  EXPECT_EQ(idle.parked(), 0);
}

TEST(IdleSetTest, NobodyIsWokenWhileSomebodySearches) {
  IdleSet idle(2);
  std::atomic<bool> woken{false};
  std::thread sleeper([&] {
    (void)idle.Park(0, false, kSleep);
    woken.store(true);
  });
  AwaitParkedCount(idle, 1);
  ASSERT_TRUE(idle.TryStartSearching());
  idle.NotifyWork();
  EXPECT_EQ(idle.parked(), 1);
  // The searcher found work, and there is no more.
  idle.StopSearching(kNoMoreWork);
  EXPECT_EQ(idle.parked(), 1);
  EXPECT_FALSE(woken.load());
  // Another searcher found work, and there is more.
  ASSERT_TRUE(idle.TryStartSearching());
  idle.StopSearching(kMoreWork);
  sleeper.join();
  EXPECT_EQ(idle.searching(), 1);
}

TEST(IdleSetTest, OnlyTheLastSearcherLooksForMore) {
  IdleSet idle(4);
  ASSERT_TRUE(idle.TryStartSearching());
  ASSERT_TRUE(idle.TryStartSearching());
  idle.StopSearching([] {
    ADD_FAILURE() << "another worker still searches";
    return false;
  });
  bool asked = false;
  idle.StopSearching([&] {
    asked = true;
    return false;
  });
  EXPECT_TRUE(asked);
}

TEST(IdleSetTest, LastParkedIsWokenFirst) {
  IdleSet idle(2);
  std::atomic<int> woken{-1};
  std::thread first([&] {
    (void)idle.Park(0, false, kSleep);
    woken.store(0);
  });
  AwaitParkedCount(idle, 1);
  std::thread second([&] {
    (void)idle.Park(1, false, kSleep);
    woken.store(1);
  });
  AwaitParkedCount(idle, 2);
  idle.NotifyWork();
  second.join();
  EXPECT_EQ(woken.load(), 1);
  EXPECT_EQ(idle.parked(), 1);
  idle.WakeAll();
  first.join();
}

TEST(IdleSetTest, WakeAllWakesEverybody) {
  IdleSet idle(3);
  std::thread sleepers[3];
  for (int i = 0; i < 3; ++i) {
    sleepers[i] = std::thread([&, i] { (void)idle.Park(i, false, kSleep); });
  }
  AwaitParkedCount(idle, 3);
  idle.WakeAll();
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(idle.searching(), 3);
  EXPECT_EQ(idle.parked(), 0);
}

// cppcoro#114: a stale token corrupted the count of sleepers. Two workers pass a ball; each
// pass is a push, a look at the idle word and a park.
TEST(IdleSetTest, CountsAreRightAfterManyRacesOfParkAndNotify) {
  IdleSet idle(2);
  constexpr int kPasses = 20'000;
  std::atomic<int> ball{0};
  const auto play = [&](int me) {
    bool searching = false;
    while (ball.load() < kPasses) {
      if (ball.load() % 2 == me) {
        if (searching) idle.StopSearching(kNoMoreWork);
        searching = false;
        ball.fetch_add(1);
        idle.NotifyWork();
        continue;
      }
      (void)idle.Park(me, searching, [&](const auto&) {
        const int now = ball.load();
        return now % 2 == me || now >= kPasses;
      });
      searching = true;
    }
    if (searching) idle.StopSearching(kNoMoreWork);
    idle.WakeAll();
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(idle.parked(), 0);
  EXPECT_EQ(ball.load(), kPasses);
}

}  // namespace
}  // namespace jackdaw
