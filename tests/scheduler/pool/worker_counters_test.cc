#include "scheduler/pool/worker_counters.h"

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

TEST(SpanCounterTest, CountsTheCurrentStayAsWell) {
  SpanCounter span;
  EXPECT_EQ(span.Read(1000), 0);
  span.Begin(1000);
  EXPECT_EQ(span.Read(1300), 300);
  span.Finish(1500);
  EXPECT_EQ(span.Read(9000), 500);
  span.Begin(9000);
  EXPECT_EQ(span.Read(9001), 501);
  span.Finish(9100);
  EXPECT_EQ(span.Read(9999), 600);
}

// The reader looked at the clock before the worker did.
TEST(SpanCounterTest, NeverCountsANegativeStay) {
  SpanCounter span;
  span.Begin(1000);
  EXPECT_EQ(span.Read(900), 0);
}

TEST(CounterTest, AddsUp) {
  Counter counter;
  counter.Add(2);
  counter.Add(40);
  EXPECT_EQ(counter.Read(), 42);
}

}  // namespace
}  // namespace jackdaw
