#include "scheduler/trace/track_buffer.h"

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Kind = TrackSpan::Kind;

TEST(TrackBufferTest, KeepsSpansInTheOrderOfTheirEndsWithTheirDepth) {
  TrackBuffer track(100);
  track.Begin({.begin_ns = 1, .kind = Kind::kTask});
  track.Begin({.begin_ns = 2, .name = "inner", .kind = Kind::kScope});
  track.Mark({.begin_ns = 3, .end_ns = 3, .kind = Kind::kSpawn});
  track.End(Kind::kScope, 4);
  EXPECT_EQ(track.size(), 2u);
  track.End(Kind::kTask, 5);
  ASSERT_EQ(track.size(), 3u);
  EXPECT_EQ(track[0].kind, Kind::kSpawn);
  EXPECT_EQ(track[0].depth, 2u);
  EXPECT_EQ(track[1].end_ns, 4);
  EXPECT_EQ(track[1].depth, 1u);
  EXPECT_EQ(track[2].begin_ns, 1);
  EXPECT_EQ(track[2].end_ns, 5);
  EXPECT_EQ(track[2].depth, 0u);
}

TEST(TrackBufferTest, EndOfATaskEndsWhatItLeftOpen) {
  TrackBuffer track(100);
  track.Begin({.begin_ns = 1, .kind = Kind::kTask});
  track.Begin({.begin_ns = 2, .kind = Kind::kScope});
  track.End(Kind::kTask, 9);
  ASSERT_EQ(track.size(), 2u);
  EXPECT_EQ(track[0].kind, Kind::kScope);
  EXPECT_EQ(track[0].end_ns, 9);
  EXPECT_EQ(track[1].kind, Kind::kTask);
}

TEST(TrackBufferTest, EndOfAScopeReachesNotBeyondItsTask) {
  TrackBuffer track(100);
  track.End(Kind::kScope, 1);
  track.Begin({.begin_ns = 1, .kind = Kind::kScope});
  track.Begin({.begin_ns = 2, .kind = Kind::kTask});
  track.End(Kind::kScope, 3);
  EXPECT_EQ(track.size(), 0u);
  track.End(Kind::kTask, 4);
  track.End(Kind::kScope, 5);
  EXPECT_EQ(track.size(), 2u);
}

TEST(TrackBufferTest, BeyondTheLimitItCountsAlone) {
  TrackBuffer track(2);
  for (int i = 0; i < 5; ++i) {
    track.Begin({.begin_ns = i, .kind = Kind::kTask});
    track.End(Kind::kTask, i);
  }
  EXPECT_EQ(track.size(), 2u);
  EXPECT_EQ(track.dropped(), 3);
}

TEST(TrackBufferTest, StealBelongsToTheNextTaskAlone) {
  TrackBuffer track(2);
  track.WillSteal(7, 100);
  TrackSpan stolen;
  track.AddSteal(stolen);
  EXPECT_EQ(stolen.victim, 7);
  EXPECT_EQ(stolen.stolen_ns, 100);
  TrackSpan other;
  track.AddSteal(other);
  EXPECT_EQ(other.victim, TrackSpan::kNobody);
}

}  // namespace
}  // namespace jackdaw
