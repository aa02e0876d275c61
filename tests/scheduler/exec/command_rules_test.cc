// Which commands are accepted.

#include <map>
#include <string>
#include <vector>

#include "scheduler/exec/allow_list.h"
#include "scheduler/exec/command_spec.h"
#include "scheduler/exec/commands.h"
#include "scheduler/exec/program_path.h"
#include "tests/scheduler/exec/command_fixture.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

CommandSpec Argv(std::vector<std::string> argv) {
  CommandSpec spec;
  spec.argv = std::move(argv);
  return spec;
}

void ExpectInvalid(const CommandSpec& spec, const std::string& text) {
  const absl::Status status = Validate(spec);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(CommandSpecTest, AWrongSpecIsRefusedByField) {
  using namespace std::string_literals;
  ExpectInvalid(Argv({}), "argv:");
  ExpectInvalid(Argv({""}), "argv[0]:");
  ExpectInvalid(Argv({"a", "b\0c"s}), "contains a NUL byte");
  CommandSpec spec = Argv({"a"});
  spec.environment = {{"", "x"}};
  ExpectInvalid(spec, "environment[\"\"]");
  spec.environment = {{"A=B", "x"}};
  ExpectInvalid(spec, "environment[\"A=B\"]");
  spec.environment = {{"A", "x\0"s}};
  ExpectInvalid(spec, "environment[\"A\"]");
  spec.environment.clear();
  spec.working_directory = "relative";
  ExpectInvalid(spec, "working_directory: \"relative\" is not an absolute path");
  spec.working_directory = "/a\0b"s;
  ExpectInvalid(spec, "working_directory");
  spec.working_directory = "/" + std::string(CommandSpec::kMaxDirectoryBytes, 'x');
  ExpectInvalid(spec, "4096 bytes exceed the limit of 4095");
}

TEST(CommandSpecTest, LimitsAreNamedWithTheirValue) {
  const std::string longest(CommandSpec::kMaxArgumentBytes, 'x');
  EXPECT_TRUE(Validate(Argv({"a", longest})).ok());
  ExpectInvalid(Argv({"a", longest + "x"}), "argv[1]: 131072 bytes exceed the limit of 131071");
  CommandSpec spec = Argv({"a"});
  spec.environment = {{"A", longest}};
  ExpectInvalid(spec, "131073 bytes with the name exceed the limit of 131071");
  ExpectInvalid(Argv(std::vector<std::string>(9, longest)), "exceed the limit of 1048576");
  ExpectInvalid(Argv(std::vector<std::string>(200'000, "x")), "exceed the limit of 1048576");
}

TEST_F(CommandsTest, TheLargestSpecThatIsAcceptedRuns) {
  Commands commands(AllowAll());
  std::vector<std::string> argv(8, std::string(CommandSpec::kMaxArgumentBytes - 20, 'x'));
  argv[0] = "echo";
  EXPECT_EQ(Run(commands, Argv(argv)).output.size(), 7u * (CommandSpec::kMaxArgumentBytes - 19));
}

TEST_F(CommandsTest, AreOffUnlessAllowed) {
  Commands commands(Commands::Options{});
  EXPECT_FALSE(commands.enabled());
  EXPECT_TRUE(commands.status().ok());
  const absl::Status status = commands.Make(Argv({"true"})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not started to run commands"));
  EXPECT_EQ(commands.running(), 0);
}

TEST_F(CommandsTest, OnlyListedProgramsRun) {
  Commands::Options options;
  options.allowed = {"echo", "/bin/cat"};
  Commands commands(options);
  EXPECT_TRUE(commands.enabled());
  EXPECT_EQ(Run(commands, Argv({"echo", "x"})).output.view(), "x\n");
  for (const char* program : {"cat", "/bin/cat", "/usr/bin/cat", "/bin/echo"}) {
    EXPECT_TRUE(commands.Make(Argv({program})).ok()) << program;
  }
  for (const char* program : {"sh", "/bin/sh", "./echo", "bin/cat", "/tmp/echo", "/echo",
                              "/bin/../bin/dash", "catt", "/bin/"}) {
    const absl::Status status = commands.Make(Argv({program})).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << program;
    EXPECT_THAT(std::string(status.message()), HasSubstr(program));
  }
}

TEST_F(CommandsTest, AClientCannotSwapAnAllowedProgram) {
  std::ofstream(File("echo")) << "#!/bin/sh\necho evil\n";
  ASSERT_EQ(chmod((directory_ + "/echo").c_str(), 0755), 0);
  Commands::Options options;
  options.allowed = {"echo"};
  Commands commands(options);
  CommandSpec spec = Argv({"echo", "good"});
  spec.working_directory = directory_;
  EXPECT_EQ(Run(commands, spec).output.view(), "good\n");
  EXPECT_EQ(commands.Make(Argv({directory_ + "/echo"})).status().code(),
            absl::StatusCode::kPermissionDenied);
  for (const char* name : {"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "PYTHONPATH"}) {
    spec.environment = {{name, directory_}};
    const absl::Status status = commands.Make(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
  spec.environment = {{"GREETING", "hi"}};
  EXPECT_TRUE(commands.Make(spec).ok());
}

TEST_F(CommandsTest, WhereAllIsAllowedAPathOfTheCommandsOwnCounts) {
  std::ofstream(File("tool")) << "#!/bin/sh\necho tool\n";
  ASSERT_EQ(chmod((directory_ + "/tool").c_str(), 0755), 0);
  Commands commands(AllowAll());
  CommandSpec spec = Argv({"tool"});
  EXPECT_EQ(Run(commands, spec).status.code(), absl::StatusCode::kNotFound);
  spec.environment = {{"PATH", directory_}};
  EXPECT_EQ(Run(commands, spec).output.view(), "tool\n");
}

TEST(CommandsOptionsTest, AnOptionOutOfRangeIsNamed) {
  const auto expect_bad = [](Commands::Options options, const char* text) {
    options.allow_all = true;
    Commands commands(options);
    EXPECT_EQ(commands.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(commands.status().message()), HasSubstr(text));
    EXPECT_EQ(commands.Make(Argv({"true"})).status(), commands.status());
  };
  Commands::Options options;
  options.max_running = -1;
  expect_bad(options, "max_running: -1");
  options = {};
  options.max_output_bytes = -5;
  expect_bad(options, "max_output_bytes: -5");
  options = {};
  options.max_log_bytes = Commands::kMaxCapturedBytes + 1;
  expect_bad(options, "max_log_bytes: 1073741825");
  options = {};
  options.grace = absl::Seconds(-1);
  expect_bad(options, "grace: -1s");
  options = {};
  options.linger = absl::InfiniteDuration();
  expect_bad(options, "linger: inf");
  options = {};
  options.allowed = {"./tool"};
  expect_bad(options, "allowed: \"./tool\"");
}

TEST_F(CommandsTest, SearchPassesOverWhatIsRelativeOrNoFile) {
  std::ofstream(File("locked")) << "x";
  ASSERT_EQ(mkdir(File("directory").c_str(), 0755), 0);
  const std::string path = absl::StrCat(":.:relative:/no/such:", directory_, ":/usr/bin");
  EXPECT_EQ(FindProgram("env", path).value(), "/usr/bin/env");
  EXPECT_EQ(FindProgram("directory", path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindProgram("locked", path).status().code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace jackdaw
