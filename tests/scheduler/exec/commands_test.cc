// What a command reads, writes and answers. Real programs; see command_fixture.h.

#include "scheduler/exec/commands.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/scheduler/exec/command_fixture.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Message(const Outcome& outcome) { return std::string(outcome.status.message()); }
std::string Log(const Outcome& outcome) { return std::string(outcome.log.view()); }

TEST_F(CommandsTest, StandardOutputIsTheOutputAndStandardErrorTheLog) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("echo out; echo err >&2"));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.output.view(), "out\n");
  EXPECT_EQ(outcome.log.view(), "err\n");
}

TEST_F(CommandsTest, EmptyOutputIsEmpty) {
  Commands commands(AllowAll());
  CommandSpec spec;
  spec.argv = {"true"};
  const Outcome outcome = Run(commands, spec);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.output.empty());
  EXPECT_TRUE(outcome.log.empty());
}

TEST_F(CommandsTest, ArgumentsArriveAsTheyAre) {
  Commands commands(AllowAll());
  CommandSpec spec;
  spec.argv = {"printf", "%s|", "", "a b", "$HOME", "*", "\xff\n"};
  EXPECT_EQ(Run(commands, spec).output.view(), "|a b|$HOME|*|\xff\n|");
}

TEST_F(CommandsTest, StandardInputIsEmptyUnlessAskedFor) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("cat"), {.payload = "p", .inputs = {"i"}});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.output.empty());
}

TEST_F(CommandsTest, StandardInputIsThePayload) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("cat", CommandSpec::Stdin::kPayload),
                              {.payload = "the payload", .inputs = {"no"}});
  EXPECT_EQ(outcome.output.view(), "the payload");
}

TEST_F(CommandsTest, StandardInputIsTheInputsInOrder) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("cat", CommandSpec::Stdin::kInputs),
                              {.payload = "no", .inputs = {"b", "", "a", "c"}});
  EXPECT_EQ(outcome.output.view(), "bac");
}

TEST_F(CommandsTest, OddBytesSurviveBothWays) {
  Commands commands(AllowAll());
  std::string odd;
  for (int i = 0; i < 256; ++i) odd += static_cast<char>(i);
  const Outcome outcome =
      Run(commands, Sh("tee /dev/stderr", CommandSpec::Stdin::kPayload), {.payload = odd});
  EXPECT_EQ(outcome.output.view(), odd);
  EXPECT_EQ(outcome.log.view(), odd);
}

TEST_F(CommandsTest, TenMegabytesPassBothWaysAtOnce) {
  Commands commands(AllowAll());
  std::string big(10 << 20, 'x');
  for (std::size_t i = 0; i < big.size(); i += 4096) big[i] = static_cast<char>(i >> 12);
  const std::string half = big.substr(0, big.size() / 2);
  const Outcome outcome = Run(commands, Sh("cat", CommandSpec::Stdin::kInputs),
                              {.inputs = {half, big.substr(half.size())}});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.output.view() == big);
}

TEST_F(CommandsTest, AProgramMayLeaveItsInputUnread) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("exec <&-; echo done", CommandSpec::Stdin::kPayload),
                              {.payload = std::string(1 << 20, 'x')});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.output.view(), "done\n");
}

TEST_F(CommandsTest, AnExitStatusComesWithTheLastLineOfTheLog) {
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("echo kept; echo first >&2; echo last >&2; exit 3"));
  EXPECT_EQ(outcome.status, absl::UnknownError("exit status 3: last"));
  EXPECT_EQ(outcome.output.view(), "kept\n");
  EXPECT_EQ(outcome.log.view(), "first\nlast\n");
  EXPECT_EQ(Run(commands, Sh("exit 255")).status, absl::UnknownError("exit status 255"));
}

TEST_F(CommandsTest, ALastLineThatIsNoTextIsEscaped) {
  Commands commands(AllowAll());
  EXPECT_EQ(Run(commands, Sh("printf '\\377\\001' >&2; exit 1")).status,
            absl::UnknownError("exit status 1: \\xff\\x01"));
}

TEST_F(CommandsTest, ADeathBySignalIsNamed) {
  Commands commands(AllowAll());
  const Outcome segv = Run(commands, Sh("echo before; kill -SEGV $$"));
  EXPECT_EQ(segv.status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(segv), StartsWith("killed by signal 11 (SIGSEGV)"));
  EXPECT_EQ(segv.output.view(), "before\n");
  EXPECT_EQ(Run(commands, Sh("kill -KILL $$")).status,
            absl::AbortedError("killed by signal 9 (SIGKILL)"));
}

TEST_F(CommandsTest, AnUnknownProgramIsNotFound) {
  Commands commands(AllowAll());
  CommandSpec spec;
  for (const char* program : {"no-such-program", "/no/such/program", "./no-such-program"}) {
    spec.argv = {program};
    const Outcome outcome = Run(commands, spec);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kNotFound) << outcome.status;
    EXPECT_THAT(Message(outcome), HasSubstr(program));
  }
}

TEST_F(CommandsTest, AFileThatMayNotBeExecutedIsRefused) {
  Commands commands(AllowAll());
  CommandSpec spec;
  for (const char* program : {"/etc/passwd", "/etc"}) {
    spec.argv = {program};
    const Outcome outcome = Run(commands, spec);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kPermissionDenied) << outcome.status;
    EXPECT_THAT(Message(outcome), HasSubstr(program));
  }
}

TEST_F(CommandsTest, AFileThatIsNoProgramIsRefused) {
  Commands commands(AllowAll());
  CommandSpec spec;
  spec.argv = {File("text")};
  std::ofstream(spec.argv[0]) << "just text\n";
  ASSERT_EQ(chmod(spec.argv[0].c_str(), 0755), 0);
  EXPECT_EQ(Run(commands, spec).status.code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CommandsTest, TheWorkingDirectoryIsTheSpecs) {
  Commands commands(AllowAll());
  CommandSpec spec = Sh("pwd -P");
  spec.working_directory = "/";
  EXPECT_EQ(Run(commands, spec).output.view(), "/\n");
}

TEST_F(CommandsTest, ARelativeProgramStartsFromTheWorkingDirectory) {
  Commands commands(AllowAll());
  std::ofstream(File("tool")) << "#!/bin/sh\necho tool\n";
  ASSERT_EQ(chmod((directory_ + "/tool").c_str(), 0755), 0);
  CommandSpec spec;
  spec.argv = {"./tool"};
  spec.working_directory = directory_;
  // A child of some other test's may still hold the file open for writing for a moment.
  const Outcome outcome = Run(commands, spec);
  EXPECT_EQ(outcome.output.view(), "tool\n") << outcome.status;
}

TEST_F(CommandsTest, AnUnknownWorkingDirectoryIsNamed) {
  Commands commands(AllowAll());
  CommandSpec spec = Sh("true");
  spec.working_directory = "/no/such/directory";
  const Outcome outcome = Run(commands, spec);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(outcome), HasSubstr("working_directory \"/no/such/directory\""));
}

TEST_F(CommandsTest, TheEnvironmentIsWhatTheOperatorPassesOnAndTheSpec) {
  ASSERT_EQ(setenv("JACKDAW_TEST_SECRET", "secret", 1), 0);
  ASSERT_EQ(setenv("JACKDAW_TEST_PASSED", "passed", 1), 0);
  ASSERT_EQ(setenv("JACKDAW_TEST_CHANGED", "before", 1), 0);
  Commands::Options options = AllowAll();
  options.pass_environment = {"JACKDAW_TEST_PASSED", "JACKDAW_TEST_CHANGED", "NOT_SET_ANYWHERE"};
  Commands commands(options);
  CommandSpec spec;
  spec.argv = {"env"};
  spec.environment = {{"JACKDAW_TEST_CHANGED", "after"}, {"JACKDAW_TEST_ADDED", "a=b\nc"}};
  EXPECT_EQ(Run(commands, spec).output.view(),
            "JACKDAW_ATTEMPT=1\nJACKDAW_JOB_ID=fake-job\nJACKDAW_TASK_ID=fake-task\n"
            "JACKDAW_TEST_ADDED=a=b\nc\nJACKDAW_TEST_CHANGED=after\nJACKDAW_TEST_PASSED=passed\n");
}

TEST_F(CommandsTest, OutputAtTheLimitPassesAndBeyondItFailsWithTheLimitAndTheSize) {
  Commands::Options options = AllowAll();
  options.max_output_bytes = 100;
  Commands commands(options);
  EXPECT_EQ(Run(commands, Sh("printf '%100s' ''")).output.size(), 100u);
  const Outcome outcome = Run(commands, Sh("printf '%101s' ''"));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(outcome), HasSubstr("101 bytes and counting exceed the limit of 100"));
  EXPECT_EQ(outcome.output.size(), 100u);
}

TEST_F(CommandsTest, EndlessOutputEndsTheCommand) {
  Commands::Options options = AllowAll();
  options.max_output_bytes = 1 << 20;
  Commands commands(options);
  CommandSpec spec;
  spec.argv = {"yes"};
  EXPECT_EQ(Run(commands, spec).status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(commands.running(), 0);
}

TEST_F(CommandsTest, ALogBeyondTheLimitIsCutWithAMarkAndTheCommandGoesOn) {
  Commands::Options options = AllowAll();
  options.max_log_bytes = 10;
  Commands commands(options);
  const Outcome outcome =
      Run(commands, Sh("printf 0123456789 >&2; echo x; printf 'ABC\\nthe end\\n' >&2; exit 2"));
  EXPECT_EQ(outcome.output.view(), "x\n");
  EXPECT_EQ(Log(outcome),
            "0123456789\n[jackdaw] standard error was cut here: 10 of 22 bytes were kept "
            "(max_log_bytes)\n");
  // The reason that a program gives last is not lost with the rest.
  EXPECT_EQ(outcome.status, absl::UnknownError("exit status 2: the end"));
}

TEST_F(CommandsTest, SignalDispositionsAndMaskAreReset) {
  ASSERT_NE(signal(SIGUSR1, SIG_IGN), SIG_ERR);
  ASSERT_NE(signal(SIGPIPE, SIG_IGN), SIG_ERR);
  Commands commands(AllowAll());
  const Outcome outcome = Run(commands, Sh("exec grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(outcome.output.view(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(CommandsTest, OnlyTheStandardDescriptorsAreInherited) {
  // Opened without close-on-exec, as libraries do.
  const UniqueFd leaky(open("/dev/null", O_RDONLY));
  Commands commands(AllowAll());
  // The fourth is that of the listing itself.
  EXPECT_EQ(Run(commands, Sh("exec ls /proc/self/fd")).output.view(), "0\n1\n2\n3\n");
}

TEST_F(CommandsTest, ACommandHasItsOwnSessionAndGroup) {
  Commands commands(AllowAll());
  // Fields 1, 5 and 6: process, group, session.
  const Outcome outcome = Run(commands, Sh("read -r a b c d e f g < /proc/$$/stat; echo $a $e $f"));
  const std::vector<std::string> ids =
      absl::StrSplit(outcome.output.view(), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
}

}  // namespace
}  // namespace jackdaw
