// The small parts of commands, each on its own.

#include <sys/wait.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/exec/exit_status.h"
#include "scheduler/exec/output_capture.h"
#include "scheduler/exec/program_stats.h"
#include "scheduler/exec/safe_text.h"

namespace jackdaw {
namespace {

TEST(OutputCaptureTest, KeepsTheFirstBytesAndCountsTheRest) {
  OutputCapture capture(5);
  capture.Append("abc");
  EXPECT_EQ(capture.dropped_bytes(), 0);
  capture.Append("defg");
  EXPECT_EQ(capture.total_bytes(), 7);
  EXPECT_EQ(capture.dropped_bytes(), 2);
  EXPECT_EQ(capture.Take(), "abcde");
}

TEST(OutputCaptureTest, ALimitOfZeroKeepsNothing) {
  OutputCapture capture(0);
  capture.Append("x");
  EXPECT_EQ(capture.dropped_bytes(), 1);
  EXPECT_EQ(capture.LastLine(), "x");
  EXPECT_EQ(capture.Take(), "");
}

TEST(OutputCaptureTest, TheLastLineIsTheLastThatIsNotBlank) {
  OutputCapture capture(100);
  EXPECT_EQ(capture.LastLine(), "");
  capture.Append("first\n  second \r\n\n \n");
  EXPECT_EQ(capture.LastLine(), "second");
}

TEST(OutputCaptureTest, TheLastLineSurvivesTheCut) {
  OutputCapture capture(10);
  for (int i = 0; i < 10'000; ++i) capture.Append(absl::StrCat("line ", i, "\n"));
  EXPECT_EQ(capture.LastLine(), "line 9999");
  EXPECT_EQ(capture.Take(), "line 0\nlin");
}

TEST(SafeTextTest, TextPassesAndOtherBytesAreEscaped) {
  EXPECT_EQ(SafeText("plain, Größe, 日本, 🙂"), "plain, Größe, 日本, 🙂");
  EXPECT_EQ(SafeText("a\tb"), "a\\tb");
  EXPECT_EQ(SafeText("\x1b[31m"), "\\x1b[31m");
  // A lone continuation, an overlong slash, a surrogate, beyond U+10FFFF, a cut character.
  for (const char* bad : {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\x97"}) {
    EXPECT_EQ(SafeText(bad)[0], '\\') << SafeText(bad);
  }
}

TEST(SafeTextTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(SafeText("abcdef", 3), "abc...");
  EXPECT_EQ(SafeText("abc", 3), "abc");
  EXPECT_EQ(SafeText("aé", 2), "a...");
}

TEST(ExitStatusTest, EachWayToEndHasItsStatus) {
  siginfo_t info{};
  info.si_code = CLD_EXITED;
  EXPECT_TRUE(ExitToStatus(info, "warning").ok());
  info.si_status = 7;
  EXPECT_EQ(ExitToStatus(info, ""), absl::UnknownError("exit status 7"));
  info.si_code = CLD_KILLED;
  info.si_status = SIGTERM;
  EXPECT_EQ(ExitToStatus(info, "bye"), absl::AbortedError("killed by signal 15 (SIGTERM): bye"));
  info.si_code = CLD_DUMPED;
  info.si_status = SIGRTMIN + 1;
  EXPECT_EQ(ExitToStatus(info, ""),
            absl::AbortedError(absl::StrCat("killed by signal ", SIGRTMIN + 1, ", core dumped")));
}

TEST(ProgramStatsTest, NamesAreCappedAndTheRestIsCountedTogether) {
  ProgramStats stats;
  const auto exists = [] { return true; };
  for (std::size_t i = 0; i < ProgramStats::kMaxPrograms; ++i) {
    EXPECT_EQ(stats.Of(absl::StrCat("p", i), exists)->metric_name(), absl::StrCat("p", i));
  }
  for (int i = 1000; i < 11'000; ++i) {
    EXPECT_EQ(stats.Of(absl::StrCat("p", i), exists)->metric_name(), ProgramStats::kOther);
  }
  EXPECT_EQ(stats.Of("p7", exists), stats.Of("p7", exists));
  EXPECT_EQ(stats.All().size(), ProgramStats::kMaxPrograms + 1);
}

TEST(ProgramStatsTest, ANameThatIsNoLabelOrDoesNotExistIsNotKept) {
  ProgramStats stats;
  const auto exists = [] { return true; };
  for (const std::string& name : {std::string(), std::string("a b"), std::string("\xff"),
                                  std::string(65, 'x'), std::string(ProgramStats::kOther)}) {
    EXPECT_EQ(stats.Of(name, exists)->metric_name(), ProgramStats::kOther);
  }
  EXPECT_EQ(stats.Of("typo", [] { return false; })->metric_name(), ProgramStats::kOther);
  EXPECT_EQ(stats.All().size(), 1u);
}

}  // namespace
}  // namespace jackdaw
