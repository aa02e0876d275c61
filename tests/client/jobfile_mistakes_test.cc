// What is said about wrong job files: file, line, column, field, what was found and what
// was expected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/jobfile/parse.h"

namespace jackdaw::jobfile {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Mistakes(const std::string& text) {
  const absl::StatusOr<JobFile> job = ParseJobFile(text, "f.yaml");
  if (job.ok()) return {};
  EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(job.status().message()), '\n');
}

struct Case {
  const char* name;
  const char* text;
  const char* mistake;  // The whole line.
};

class JobFileMistakeTest : public ::testing::TestWithParam<Case> {};

TEST_P(JobFileMistakeTest, IsNamedWithPlaceAndExpectation) {
  EXPECT_THAT(Mistakes(GetParam().text), ElementsAre(GetParam().mistake));
}

constexpr char kTaskFields[] =
    "id, function, command, payload, after, labels, stdin, run_if, retry, timeout, "
    "queue_timeout, priority, runner, env, workdir";

TEST(JobFileMistakesTest, UnknownFieldsComeWithAHint) {
  EXPECT_THAT(Mistakes("tasks:\n  - id: a\n    function: noop\n    afer: [b]\n"),
              ElementsAre(absl::StrCat("f.yaml:4:5: tasks[0].afer: unknown field, expected one of ",
                                       kTaskFields, ", did you mean \"after\"?")));
}

TEST(JobFileMistakesTest, UnknownFieldAtTheTopComesWithAHint) {
  EXPECT_THAT(Mistakes("task: []\n"),
              ElementsAre("f.yaml:1:1: task: unknown field, expected one of name, failure_policy, "
                          "priority, timeout, labels, defaults, tasks, did you mean \"tasks\"?",
                          "f.yaml:1:1: found no tasks, expected the field `tasks`"));
}

INSTANTIATE_TEST_SUITE_P(
    All, JobFileMistakeTest,
    ::testing::Values(
        Case{"NotAMapping", "just text",
             "f.yaml:1:1: found \"just text\", expected a job: a "
             "mapping with the field `tasks`"},
        Case{"Empty", "",
             "f.yaml:1:1: found nothing, expected a job: a mapping with the field "
             "`tasks`"},
        Case{"TasksOfWrongType", "name: x\ntasks: 5\n",
             "f.yaml:2:8: tasks: found \"5\", expected a list of tasks"},
        Case{"NoTask", "tasks: []",
             "f.yaml:1:8: tasks: found an empty list, expected at least one task"},
        Case{"TaskOfWrongType", "tasks:\n  - noop\n",
             "f.yaml:2:5: tasks[0]: found \"noop\", expected a task: a mapping with an id and a "
             "function or a command"},
        Case{"NoId", "tasks:\n  - function: noop\n",
             "f.yaml:2:5: tasks[0]: found no id, expected the field `id`"},
        Case{"EmptyId", "tasks:\n  - {id: '', function: noop}\n",
             "f.yaml:2:10: tasks[0].id: found \"\", expected 1 to 128 of a-z, A-Z, 0-9, '_', '-' "
             "and '.', not digits only"},
        Case{"IdWithSpace", "tasks:\n  - {id: a b, function: noop}\n",
             "f.yaml:2:10: tasks[0].id: found \"a b\", expected 1 to 128 of a-z, A-Z, 0-9, '_', "
             "'-' and '.', not digits only"},
        Case{"IdLikeAnIndex", "tasks:\n  - {id: 12, function: noop}\n",
             "f.yaml:2:10: tasks[0].id: found \"12\", expected 1 to 128 of a-z, A-Z, 0-9, '_', "
             "'-' and '.', not digits only"},
        Case{"EmptyFunction", "tasks:\n  - {id: a, function: ''}\n",
             "f.yaml:2:23: tasks[0].function: found \"\", expected text that is not empty and has "
             "no NUL character"},
        Case{"NoAction", "tasks:\n  - id: a\n",
             "f.yaml:2:5: tasks[0]: found neither function nor command, expected one of them"},
        Case{"BothActions", "tasks:\n  - {id: a, function: noop, command: [x]}\n",
             "f.yaml:2:5: tasks[0]: found both function and command, expected one of them"},
        Case{"CommandAsText", "tasks:\n  - id: a\n    command: echo hello\n",
             "f.yaml:3:14: tasks[0].command: found \"echo hello\", expected a list: the program "
             "and its arguments, such as [sh, -c, \"echo hello\"]"},
        Case{"EmptyCommand", "tasks:\n  - id: a\n    command: []\n",
             "f.yaml:3:14: tasks[0].command: found a list of 0, expected a list: the program "
             "and its arguments, such as [sh, -c, \"echo hello\"]"},
        Case{"EmptyProgram", "tasks:\n  - id: a\n    command: ['', x]\n",
             "f.yaml:3:14: tasks[0].command: found an empty program name, expected the name or "
             "path of a program"},
        Case{"NulInCommand", "tasks:\n  - id: a\n    command: [x, \"\\0\"]\n",
             "f.yaml:3:14: tasks[0].command: found a NUL character, expected text that a program "
             "can receive"},
        Case{"NothingWhereTextBelongs", "tasks:\n  - id: a\n    function:\n",
             "f.yaml:3:5: tasks[0].function: found nothing, expected text"},
        Case{"DuplicateId", "tasks:\n  - {id: a, function: noop}\n  - {id: a, function: noop}\n",
             "f.yaml:3:10: tasks[1].id: found \"a\", which tasks[0] has already (line 2), "
             "expected an id of its own"},
        Case{"UnknownDependency",
             "tasks:\n  - {id: texts, function: noop}\n  - {id: b, function: noop, after: "
             "[text]}\n",
             "f.yaml:3:37: tasks[1].after[0]: found \"text\", expected the id of a task of this "
             "job, did you mean \"texts\"?"},
        Case{"DependencyTwice",
             "tasks:\n  - {id: a, function: noop}\n  - {id: b, function: noop, after: [a, a]}\n",
             "f.yaml:3:40: tasks[1].after[1]: found \"a\" twice, expected each task once"},
        Case{"SelfDependency", "tasks:\n  - {id: a, function: noop, after: [a]}\n",
             "f.yaml:2:5: tasks[0].after: found a cycle, each task after the next: \"a\" -> "
             "\"a\", expected none"},
        Case{"Cycle",
             "tasks:\n  - {id: a, function: noop, after: [c]}\n  - {id: b, function: noop, "
             "after: [a]}\n  - {id: c, function: noop, after: [b]}\n",
             "f.yaml:2:5: tasks[0].after: found a cycle, each task after the next: \"a\" -> "
             "\"c\" -> \"b\" -> \"a\", expected none"},
        Case{"DurationWithoutUnit", "timeout: 5\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:10: timeout: found \"5\", expected a duration with its unit, such as "
             "250ms, 5s, 2m or 1h30m, at most a year (8760h)"},
        Case{"NegativeDuration", "timeout: -5s\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:10: timeout: found \"-5s\", expected a duration with its unit, such as "
             "250ms, 5s, 2m or 1h30m, at most a year (8760h)"},
        Case{"UnknownWord", "failure_policy: fail_fats\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:17: failure_policy: found \"fail_fats\", expected one of continue, "
             "fail_fast, did you mean \"fail_fast\"?"},
        Case{"ListWhereAWordBelongs", "priority: [high]\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:11: priority: found a list of 1, expected one of low, normal, high"},
        Case{"AttemptsOutOfRange", "tasks:\n  - {id: a, function: noop, retry: {attempts: 0}}\n",
             "f.yaml:2:47: tasks[0].retry.attempts: found \"0\", expected a whole number from 1 "
             "to 1000"},
        Case{"JitterOutOfRange",
             "defaults: {retry: {jitter: 2}}\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:28: defaults.retry.jitter: found \"2\", expected a number from 0 to 1"},
        Case{"UnknownCode",
             "defaults: {retry: {codes: [UNAVAILABEL]}}\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:28: defaults.retry.codes[0]: found \"UNAVAILABEL\", expected one of "
             "CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, "
             "ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, "
             "ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, "
             "UNAUTHENTICATED, did you mean \"UNAVAILABLE\"?"},
        Case{"CommandFieldOfAFunction",
             "tasks:\n  - id: a\n    function: noop\n    stdin: inputs\n",
             "f.yaml:4:12: tasks[0].stdin: found in a task with a function, expected only with a "
             "command"},
        Case{"PayloadThatNobodySees",
             "tasks:\n  - {id: a, command: [cat], stdin: inputs, payload: x}\n",
             "f.yaml:2:5: tasks[0]: found a payload that the command would not see, expected "
             "`stdin: payload` with it"},
        Case{"MissingPayload", "tasks:\n  - {id: a, command: [cat], stdin: payload}\n",
             "f.yaml:2:5: tasks[0]: found `stdin: payload` without a payload, expected the field "
             "`payload`"},
        Case{"BadBinary", "tasks: [{id: a, function: echo, payload: !!binary '*'}]",
             "f.yaml:1:42: tasks[0].payload: found \"*\", expected base64, as !!binary says"},
        Case{"FieldTwice", "name: a\nname: b\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:2:1: name: found twice, expected once"},
        Case{"EnvNameTwice", "tasks:\n  - {id: a, command: [x], env: {A: 1, A: 2}}\n",
             "f.yaml:2:39: tasks[0].env.A: found twice, expected once"},
        Case{"EnvAsList", "tasks:\n  - {id: a, command: [x], env: [A=1]}\n",
             "f.yaml:2:32: tasks[0].env: found a list of 1, expected a mapping of names to texts"},
        Case{"EmptyRunner", "tasks:\n  - {id: a, function: noop, runner: ''}\n",
             "f.yaml:2:37: tasks[0].runner: found \"\", expected text that is not empty and has no "
             "NUL character"},
        Case{"RunnerAsList", "defaults: {runner: [a]}\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:20: defaults.runner: found a list of 1, expected text"},
        Case{"LabelsOfATaskAsList", "tasks:\n  - {id: a, function: noop, labels: [x]}\n",
             "f.yaml:2:37: tasks[0].labels: found a list of 1, expected a mapping of names to "
             "texts"},
        Case{"LabelOfATaskAsMapping", "tasks:\n  - {id: a, function: noop, labels: {x: {y: z}}}\n",
             "f.yaml:2:41: tasks[0].labels.x: found a mapping, expected text"},
        Case{"MappingAsText", "name: {a: b}\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:7: name: found a mapping, expected text"},
        Case{"ListAsFieldName", "? [a]\n: b\ntasks: [{id: a, function: noop}]\n",
             "f.yaml:1:3: found a list of 1 as a field, expected one of name, failure_policy, "
             "priority, timeout, labels, defaults, tasks"},
        Case{"SecondDocument", "tasks: [{id: a, function: noop}]\n---\nname: b\n",
             "f.yaml:3:1: found 2 documents, expected one"},
        Case{"NotUtf8", "tasks:\n  - {id: \"\xff\", function: noop}\n",
             "f.yaml:2:11: found a byte that is not UTF-8, expected UTF-8 text"}),
    [](const ::testing::TestParamInfo<Case>& i) { return std::string(i.param.name); });

TEST(JobFileMistakesTest, LabelsOverALimitAreNamedWithIt) {
  const auto task = [](const std::string& labels) {
    return absl::StrCat("tasks:\n  - id: a\n    function: noop\n    labels: {", labels, "}\n");
  };
  const std::string longest_name(63, 'n');
  const std::string longest_text(255, 't');
  EXPECT_THAT(Mistakes(task(absl::StrCat(longest_name, ": ", longest_text))), IsEmpty());
  EXPECT_THAT(Mistakes(task(absl::StrCat(longest_name, "n: x"))),
              ElementsAre(AllOf(StartsWith("f.yaml:4:14: tasks[0].labels: found the name \"nnn"),
                                EndsWith("\" of 64 bytes, expected at most 63"))));
  EXPECT_THAT(Mistakes(task(absl::StrCat("x: ", longest_text, "t"))),
              ElementsAre("f.yaml:4:17: tasks[0].labels.x: found a text of 256 bytes, expected at "
                          "most 255"));
  std::string many;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&many, "l", i, ": x, ");
  EXPECT_THAT(Mistakes(task(many)), IsEmpty());
  EXPECT_THAT(Mistakes(task(absl::StrCat(many, "l64: x"))),
              ElementsAre("f.yaml:4:13: tasks[0].labels: found 65 entries, expected at most 64"));
  EXPECT_THAT(Mistakes(absl::StrCat("labels: {x: ", longest_text, "t}\n", task("y: z"))),
              ElementsAre(StartsWith("f.yaml:1:13: labels.x: found a text of 256 bytes")))
      << "the same holds for a job's";
}

TEST(JobFileMistakesTest, BrokenYamlIsPlaced) {
  EXPECT_THAT(Mistakes("tasks: [\n  {id: a"),
              ElementsAre(AllOf(StartsWith("f.yaml:2:"), EndsWith(", expected YAML or JSON"))));
  EXPECT_THAT(Mistakes("a: b\n\tc: d\n"), ElementsAre(StartsWith("f.yaml:2:")));
  EXPECT_THAT(Mistakes("tasks: *nobody"), ElementsAre(StartsWith("f.yaml:1:")));
}

TEST(JobFileMistakesTest, BrokenJsonIsPlaced) {
  EXPECT_THAT(Mistakes("{\"tasks\": [{\"id\": \"a\", \"function\": \"noop\"}"),
              ElementsAre(StartsWith("f.yaml:1:")));
}

TEST(JobFileMistakesTest, DeepNestingIsRefusedNotACrash) {
  EXPECT_THAT(Mistakes("tasks: " + std::string(100'000, '[')), ElementsAre(StartsWith("f.yaml:")));
}

TEST(JobFileMistakesTest, SeveralAreReportedInTheOrderOfTheFile) {
  EXPECT_THAT(Mistakes(R"(timeout: soon
tasks:
  - {id: a, function: noop, after: [zz]}
  - {id: a, function: noop, priority: urgent}
)"),
              ElementsAre(StartsWith("f.yaml:1:10: timeout: "),
                          StartsWith("f.yaml:3:37: tasks[0].after[0]: "),
                          StartsWith("f.yaml:4:10: tasks[1].id: "),
                          StartsWith("f.yaml:4:39: tasks[1].priority: ")));
}

TEST(JobFileMistakesTest, NoMoreThanTwentyAreReported) {
  std::string text = "tasks:\n";
  for (int i = 0; i < 50; ++i) absl::StrAppend(&text, "  - {id: t", i, "}\n");
  const std::vector<std::string> mistakes = Mistakes(text);
  ASSERT_EQ(mistakes.size(), 21u);
  EXPECT_EQ(mistakes.back(), "f.yaml: and 30 more mistakes");
}

TEST(JobFileMistakesTest, LongCycleIsShownByItsEnds) {
  std::string text = "tasks:\n";
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&text, "  - {id: t", i, ", function: noop, after: [t", (i + 1) % 100, "]}\n");
  }
  EXPECT_THAT(Mistakes(text), ElementsAre(AllOf(HasSubstr("\"t0\" -> \"t1\" -> "),
                                                HasSubstr("... (88 more) -> \"t99\" -> \"t0\""))));
}

TEST(JobFileMistakesTest, FileOverTheLimitNamesBoth) {
  EXPECT_THAT(Mistakes(std::string(kMaxFileBytes + 1, '#')),
              ElementsAre("f.yaml: found 16777217 bytes, expected at most 16777216; build a "
                          "larger job with the client library"));
}

TEST(JobFileMistakesTest, FileThatIsNotThereIsNotFound) {
  const auto job = LoadJobFile("/nowhere/at/all.yaml");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(job.status().message()), HasSubstr("/nowhere/at/all.yaml"));
}

TEST(JobFileMistakesTest, DirectoryIsNotAFile) {
  EXPECT_EQ(LoadJobFile("/").status().message(), "/: found a directory, expected a job file");
}

}  // namespace
}  // namespace jackdaw::jobfile
