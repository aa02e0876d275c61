// The grain of a loop, with time as the test says.

#include "scheduler/async/grain.h"

#include <cstdint>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"

namespace jackdaw {
namespace {

class GrainTest : public ::testing::Test {
 protected:
  Grain Make(int workers, std::int64_t chunk = 0) {
    Grain grain({.chunk = chunk, .clock = &clock_}, workers);
    grain.Start();
    return grain;
  }
  // Lets the grain do chunks at `ns_per_item` until it has settled.
  void Settle(Grain& grain, std::int64_t ns_per_item) {
    for (int i = 0; i < 40; ++i) {
      clock_.Advance(absl::Nanoseconds(grain.chunk() * ns_per_item));
      grain.Did(grain.chunk());
    }
  }
  FakeClock clock_;
};

TEST_F(GrainTest, AChunkOfCheapItemsGrowsToItsTime) {
  Grain grain = Make(2);
  EXPECT_EQ(grain.chunk(), 1);
  Settle(grain, 1);
  EXPECT_GE(grain.chunk(), Grain::kChunkNs / 2);
  EXPECT_LE(grain.chunk(), Grain::kChunkNs);
}

TEST_F(GrainTest, AChunkOfDearItemsStaysOne) {
  Grain grain = Make(2);
  Settle(grain, 1'000'000);
  EXPECT_EQ(grain.chunk(), 1);
}

TEST_F(GrainTest, AChunkShrinksWhereItemsGetDear) {
  Grain grain = Make(2);
  Settle(grain, 1);
  clock_.Advance(absl::Milliseconds(50));
  grain.Did(grain.chunk());
  EXPECT_LE(grain.chunk(), 4);
}

TEST_F(GrainTest, ItemsThatTakeNoTimeAreBounded) {
  Grain grain = Make(2);
  Settle(grain, 0);
  EXPECT_EQ(grain.chunk(), Grain::kMaxChunk);
}

TEST_F(GrainTest, FewItemsAreSharedBeforeThePaceIsKnown) {
  const Grain grain = Make(2);
  EXPECT_TRUE(grain.WorthSharing(2));
  EXPECT_TRUE(grain.WorthSharing(2 * Grain::kFewItems));
  EXPECT_FALSE(grain.WorthSharing(2 * Grain::kFewItems + 1));
  EXPECT_FALSE(grain.WorthSharing(1));
}

TEST_F(GrainTest, WhatIsLeftIsSharedForItsTime) {
  Grain grain = Make(2);
  Settle(grain, 10);
  EXPECT_FALSE(grain.WorthSharing(Grain::kWorthSharingNs / 10 - 1));
  EXPECT_TRUE(grain.WorthSharing(Grain::kWorthSharingNs / 10));
}

TEST_F(GrainTest, AloneNothingIsShared) { EXPECT_FALSE(Make(1).WorthSharing(1'000'000)); }

TEST_F(GrainTest, AFixedChunkStays) {
  Grain grain = Make(2, 10);
  Settle(grain, 1);
  EXPECT_EQ(grain.chunk(), 10);
  EXPECT_FALSE(grain.WorthSharing(10));
  EXPECT_TRUE(grain.WorthSharing(11));
}

}  // namespace
}  // namespace jackdaw
