// `jackdaw run`: results, exit codes, wrong files, servers that are not there.

#include <gmock/gmock.h>
#include <signal.h>

#include <cctype>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/cli/cli_process.h"

namespace jackdaw::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kTexts[] = {"Apache-2.0", "Artistic", "BSD",     "CC0-1.0", "GFDL-1.2",
                                  "GFDL-1.3",   "GPL-1",    "GPL-2",   "GPL-3",   "LGPL-2",
                                  "LGPL-2.1",   "LGPL-3",   "MPL-1.1", "MPL-2.0"};

std::map<std::string, int> CountWords() {
  std::map<std::string, int> counts;
  for (const char* text : kTexts) {
    std::ifstream file(absl::StrCat("/usr/share/common-licenses/", text));
    EXPECT_TRUE(file) << text;
    std::string word;
    for (char c = 0; file.get(c);) {
      if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!word.empty()) {
        ++counts[word];
        word.clear();
      }
    }
    if (!word.empty()) ++counts[word];
  }
  return counts;
}

class CliRunTest : public CliTest {};

TEST_F(CliRunTest, LicensesComeToTheTrueCounts) {
  const std::map<std::string, int> counts = CountWords();
  std::string merged;
  for (const auto& [word, count] : counts) absl::StrAppend(&merged, word, " ", count, "\n");
  const CliResult digest = Program({"sha256sum", WriteFile("merged", merged)});
  ASSERT_EQ(digest.code, 0);

  const CliResult run = Cli({"run", Example("licenses.yaml")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(digest.out.substr(0, 64)));
  EXPECT_THAT(run.out, HasSubstr(absl::StrCat(" ", counts.at("license"), "  license\n")));
  EXPECT_THAT(run.out, HasSubstr(absl::StrCat("Distinct words: ", counts.size(), "\n")));
  EXPECT_THAT(run.err, HasSubstr("SUCCEEDED count-GPL-3\n"));
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b"))) << "no terminal, no escape sequences";
}

TEST_F(CliRunTest, JsonHoldsTheJobAndTheResults) {
  const CliResult run = Cli({"run", Example("hello.yaml"), "--json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err, IsEmpty());
  const auto json = Json(run.out);
  EXPECT_EQ(json.fields().at("job").struct_value().fields().at("state").string_value(),
            "SUCCEEDED");
  const auto& results = json.fields().at("results").list_value().values();
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].struct_value().fields().at("output").string_value(), "Hello, world!\n");
}

TEST_F(CliRunTest, FailedJobIsExitCodeOneAndSaysWhy) {
  const CliResult run = Cli({"run", Example("policies.yaml")});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("== unlucky FAILED after 3 attempts: "));
  EXPECT_THAT(run.out, HasSubstr("   | no luck today\n"));
  EXPECT_THAT(run.out, HasSubstr("== slow FAILED after 1 attempt: DEADLINE_EXCEEDED: "));
  EXPECT_THAT(run.out, HasSubstr("all cleaned up\n"));
  EXPECT_THAT(run.err, HasSubstr("SKIPPED needs-luck\n"));
  EXPECT_THAT(run.err, HasSubstr("SUCCEEDED plan-b\n"));
}

TEST_F(CliRunTest, WrongFileIsExitCodeTwoWithItsPlace) {
  const std::string path = WriteFile("bad.yaml", "tasks:\n  - id: a\n    functoin: noop\n");
  const CliResult run = Cli({"run", path});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr(absl::StrCat(path, ":3:5: tasks[0].functoin: unknown field")));
  EXPECT_EQ(Cli({"run", "/nowhere.yaml"}).code, 2);
}

TEST_F(CliRunTest, WrongArgumentsAreExitCodeTwo) {
  EXPECT_EQ(Cli({"run"}).code, 2);
  EXPECT_EQ(Cli({"run", "a", "b"}).code, 2);
  EXPECT_EQ(Cli({"list", "--state", "odd"}).code, 2);
  EXPECT_EQ(Cli({"--deadline", "soon", "list"}).code, 2);
  EXPECT_EQ(Cli({"--server", "nonsense", "list"}).code, 2);
  const CliResult misspelt = Cli({"wacth", "x"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean \"watch\"?"));
}

TEST_F(CliRunTest, NobodyThereIsExitCodeThree) {
  const CliResult run = CliAt("unix:/nowhere/jackdaw.sock", {"run", Example("hello.yaml")});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("unix:/nowhere/jackdaw.sock"));
  EXPECT_THAT(run.err, HasSubstr("Is jackdawd running there?"));
}

TEST_F(CliRunTest, RefusalOfTheServerIsExitCodeFourWithTheField) {
  const std::string path = WriteFile("unknown.yaml", "tasks: [{id: a, function: no-such}]");
  const CliResult run = Cli({"run", path});
  EXPECT_EQ(run.code, 4);
  EXPECT_THAT(run.err, HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(run.err, HasSubstr("job.tasks[0].function"));
}

TEST_F(CliRunTest, CtrlCCancelsTheJob) {
  const std::string path = WriteFile("long.yaml", "tasks: [{id: nap, command: [sleep, '600']}]");
  const auto run = StartCli({"run", path, "--job-id", "long"});
  ASSERT_TRUE(Eventually([&] { return run->err().find("jobs/long") != std::string::npos; }));
  run->Signal(SIGINT);
  EXPECT_EQ(run->Wait(), 1);
  EXPECT_THAT(run->err(), HasSubstr("cancelling the job"));
  EXPECT_THAT(run->out(), StartsWith("jobs/long CANCELLED"));
}

TEST_F(CliRunTest, SecondCtrlCLeavesAtOnce) {
  const std::string path = WriteFile(
      "stubborn.yaml", "tasks: [{id: nap, command: [sh, -c, 'trap \"\" TERM; sleep 600']}]");
  const auto run = StartCli({"run", path, "--job-id", "stubborn"});
  ASSERT_TRUE(Eventually([&] { return run->err().find("jobs/stubborn") != std::string::npos; }));
  run->Signal(SIGINT);
  ASSERT_TRUE(Eventually([&] { return run->err().find("cancelling") != std::string::npos; }));
  run->Signal(SIGINT);
  EXPECT_EQ(run->Wait(), 130);
  EXPECT_THAT(run->err(), HasSubstr("left jobs/stubborn"));
}

TEST_F(CliRunTest, ServerThatDiesIsExitCodeThree) {
  const std::string path = WriteFile("long.yaml", "tasks: [{id: nap, command: [sleep, '600']}]");
  const auto run = StartCli({"run", path, "--job-id", "orphan"});
  ASSERT_TRUE(Eventually([&] { return run->err().find("jobs/orphan") != std::string::npos; }));
  server_->Signal(SIGKILL);
  EXPECT_EQ(run->Wait(), 3);
}

}  // namespace
}  // namespace jackdaw::testing
