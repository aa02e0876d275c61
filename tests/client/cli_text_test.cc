// Text for people and JSON for machines: pure functions of the command line.

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

#include "client/cli/completion_text.h"
#include "client/cli/json.h"
#include "client/cli/results.h"
#include "client/cli/table.h"
#include "client/cli/text.h"

namespace jackdaw::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReadableDurationTest, ThreeDigitsAndAUnit) {
  EXPECT_EQ(ReadableDuration(absl::ZeroDuration()), "0 us");
  EXPECT_EQ(ReadableDuration(absl::Microseconds(850)), "850 us");
  EXPECT_EQ(ReadableDuration(absl::Microseconds(12'340)), "12.3 ms");
  EXPECT_EQ(ReadableDuration(absl::Milliseconds(2450)), "2.45 s");
  EXPECT_EQ(ReadableDuration(absl::Seconds(200)), "3 m 20 s");
  EXPECT_EQ(ReadableDuration(absl::Minutes(125)), "2 h 5 m");
  EXPECT_EQ(ReadableDuration(absl::Microseconds(999'999)), "1.00 s");
  EXPECT_EQ(ReadableDuration(-absl::Seconds(1)), "-1.00 s");
}

TEST(ReadableBytesTest, PowersOf1024) {
  EXPECT_EQ(ReadableBytes(0), "0 bytes");
  EXPECT_EQ(ReadableBytes(1), "1 byte");
  EXPECT_EQ(ReadableBytes(1023), "1023 bytes");
  EXPECT_EQ(ReadableBytes(1536), "1.5 KiB");
  EXPECT_EQ(ReadableBytes(64 << 20), "64.0 MiB");
}

TEST(PrintableTest, WhatMovesACursorIsEscaped) {
  EXPECT_EQ(Printable("a\x1b[2Jb\r", LineEnds::kKeep), "a\\x1b[2Jb\\r");
  EXPECT_EQ(Printable("a\nb\tc", LineEnds::kKeep), "a\nb\tc");
  EXPECT_EQ(Printable("a\nb\tc", LineEnds::kEscape), "a\\nb\\tc");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J",
                      LineEnds::kKeep),
            "\\x9b2J")
      << "the one-byte CSI";
  EXPECT_EQ(Printable("\xff\xc3\xa4\xfe", LineEnds::kKeep), "\\xff\xc3\xa4\\xfe");
}

TEST(ClipTest, CountsCharactersNotBytes) {
  EXPECT_EQ(Clip("abcdef", 6), "abcdef");
  EXPECT_EQ(Clip("abcdefg", 6), "abc...");
  EXPECT_EQ(Clip("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
  EXPECT_EQ(Clip("abcdef", 2), "ab");
  EXPECT_EQ(Width("\xc3\xa4x"), 2u);
}

TEST(TableTest, ColumnsLineUp) {
  Table table({{"NAME"}, {"COUNT", Table::Align::kRight}, {"LAST"}});
  table.AddRow({"a", "5", "x"});
  table.AddRow({"longer", "12345", ""});
  table.AddRow({"\xc3\xa4"});
  EXPECT_EQ(table.str(),
            "NAME    COUNT  LAST\n"
            "a           5  x\n"
            "longer  12345\n"
            "\xc3\xa4\n");
}

TEST(JsonStringTest, EverythingIsEscapedThatMustBe) {
  EXPECT_EQ(JsonString("a\"b\\c\nd\x01"), "\"a\\\"b\\\\c\\nd\\u0001\"");
  EXPECT_EQ(JsonString("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(JsonString("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(JsonStringTest, AnyBytesComeThroughAStrictParser) {
  std::string all;
  for (int i = 0; i < 128; ++i) all += static_cast<char>(i);
  google::protobuf::Struct parsed;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(JsonObject().Text("all", all).str(), &parsed)
          .ok());
  EXPECT_EQ(parsed.fields().at("all").string_value(), all);
}

TEST(JsonObjectTest, FieldsKeepTheirOrder) {
  EXPECT_EQ(JsonObject()
                .Integer("i", -5)
                .Number("n", 0.5)
                .Bool("b", true)
                .Raw("a", JsonArray({"1", "2"}))
                .str(),
            "{\"i\":-5,\"n\":0.5,\"b\":true,\"a\":[1,2]}");
  EXPECT_EQ(JsonObject().str(), "{}");
}

TEST(OutputToJsonTest, BytesThatAreNoTextBecomeBase64) {
  EXPECT_EQ(OutputToJson("t", "hi\n", 3),
            "{\"task\":\"t\",\"output_bytes\":3,\"output\":\"hi\\n\"}");
  EXPECT_EQ(OutputToJson("t", "\xff", 900),
            "{\"task\":\"t\",\"output_bytes\":900,\"output_base64\":\"/w==\"}");
}

v1::Task SucceededTask(const std::string& output, std::int64_t bytes) {
  v1::Task task;
  task.set_name("jobs/j/tasks/t");
  task.set_state(v1::Task::STATE_SUCCEEDED);
  task.set_output(output);
  task.set_output_bytes(bytes);
  return task;
}

TEST(FormatResultTest, LongOutputIsCutWithANoteWhereTheRestIs) {
  EXPECT_EQ(FormatResult("jobs/j", SucceededTask("x", 1)), "== t (1 byte)\nx\n");
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "line\n";
  const auto bytes = static_cast<std::int64_t>(lines.size());
  EXPECT_THAT(FormatResult("jobs/j", SucceededTask(lines, bytes)),
              EndsWith("line\n... the rest: jackdaw result j t\n"));
  EXPECT_THAT(FormatResult("jobs/j", SucceededTask("begin", 90'000)),
              EndsWith("... the rest: jackdaw result j t\n"));
}

TEST(FormatFailureTest, ErrorAndTheEndOfTheLog) {
  Failure failure;
  failure.task.set_name("jobs/j/tasks/t");
  failure.task.set_attempt_count(2);
  failure.task.mutable_error()->set_code(2);
  failure.task.mutable_error()->set_message("exit status 7");
  failure.log_end = "one\ntwo\n";
  EXPECT_EQ(FormatFailure(failure),
            "== t FAILED after 2 attempts: UNKNOWN: exit status 7\n   | one\n   | two\n");
}

CompletionTable SomeTable() {
  CompletionTable table;
  table.program = "prog";
  table.options = {{{"--server"}, "Where it is", true, {}}};
  table.verbs = {
      {"draw", "It's [a] drawing: nice", {{{"--format"}, "Which", true, {"dot", "svg"}}}, true, {}},
      {"shell", "One", {}, false, {"bash", "zsh"}}};
  return table;
}

TEST(CompletionTest, BashKnowsVerbsOptionsAndValues) {
  const std::string script = BashCompletion(SomeTable());
  EXPECT_THAT(script, HasSubstr("compgen -W 'draw shell --server' -- \"$cur\""));
  EXPECT_THAT(script, HasSubstr("draw:--format) COMPREPLY=($(compgen -W 'dot svg' -- \"$cur\"))"));
  EXPECT_THAT(script, HasSubstr("--server) ((i++)) ;;"));
  EXPECT_THAT(script, HasSubstr("compgen -W 'bash zsh'"));
}

TEST(CompletionTest, HelpIsQuotedForEachShell) {
  EXPECT_THAT(ZshCompletion(SomeTable()),
              AllOf(HasSubstr("'draw:It'\\''s [a] drawing\\: nice'"),
                    HasSubstr("'--format[Which]:value:(dot svg)'"), HasSubstr("'1:file:_files'")));
  EXPECT_THAT(FishCompletion(SomeTable()),
              AllOf(HasSubstr("-a draw -d 'It'\\''s [a] drawing: nice'"),
                    HasSubstr("-l format -x -a 'dot svg' -d 'Which'")));
}

}  // namespace
}  // namespace jackdaw::cli
