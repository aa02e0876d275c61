#include "client/jobfile/words.h"

#include <gtest/gtest.h>

namespace jackdaw::jobfile {
namespace {

TEST(DurationTest, UnitsAreReadAndAddUp) {
  EXPECT_EQ(ParseDuration("250ms"), absl::Milliseconds(250));
  EXPECT_EQ(ParseDuration("5s"), absl::Seconds(5));
  EXPECT_EQ(ParseDuration("2m"), absl::Minutes(2));
  EXPECT_EQ(ParseDuration("1h30m"), absl::Minutes(90));
  EXPECT_EQ(ParseDuration("1.5s"), absl::Milliseconds(1500));
  EXPECT_EQ(ParseDuration("8us"), absl::Microseconds(8));
  EXPECT_EQ(ParseDuration("0"), absl::ZeroDuration());
  EXPECT_EQ(ParseDuration("8760h"), absl::Hours(8760));
}

TEST(DurationTest, WhatIsNoSpanOfTimeIsRefused) {
  for (const char* text : {"", "5", "s", "5 s", "5S", "-1s", "inf", "-inf", "8761h", "1d", "x"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(NearestTest, SlipsOfTheHandAreFound) {
  const std::vector<std::string> words = {"after", "function", "retry", "timeout"};
  EXPECT_EQ(Nearest("afer", words), "after");
  EXPECT_EQ(Nearest("fucntion", words), "function");
  EXPECT_EQ(Nearest("time_out", words), "timeout");
  EXPECT_EQ(Nearest("depends_on", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), words), "");
}

TEST(QuotedTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(Quoted("a\nb"), "\"a\\nb\"");
  const std::string umlauts = "x" + std::string("\xc3\xa4\xc3\xa4") + std::string(100, 'y');
  EXPECT_EQ(Quoted(umlauts).substr(Quoted(umlauts).size() - 4), "...\"");
  std::string many;
  for (int i = 0; i < 50; ++i) many += "\xc3\xa4";
  EXPECT_EQ(FindInvalidUtf8(Quoted("x" + many)), std::nullopt);
}

TEST(Utf8Test, FirstWrongByteIsFound) {
  EXPECT_EQ(FindInvalidUtf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa6"), std::nullopt);
  EXPECT_EQ(FindInvalidUtf8("ab\xff"), 2u);
  EXPECT_EQ(FindInvalidUtf8("a\xc3"), 1u) << "cut off";
  EXPECT_EQ(FindInvalidUtf8("\xc0\xaf"), 0u) << "overlong";
  EXPECT_EQ(FindInvalidUtf8("\xed\xa0\x80"), 0u) << "surrogate";
  EXPECT_EQ(FindInvalidUtf8("\xf4\x90\x80\x80"), 0u) << "beyond Unicode";
}

}  // namespace
}  // namespace jackdaw::jobfile
