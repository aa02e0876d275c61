// How commands end early, and what is left of them: nothing.

#include <sys/prctl.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "scheduler/exec/commands.h"
#include "tests/scheduler/exec/command_fixture.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

class CommandsStopTest : public CommandsTest {
 protected:
  // Patient where a test must not depend on time, impatient where it waits for that time.
  static Commands::Options WithGrace(absl::Duration grace) {
    Commands::Options options = AllowAll();
    options.grace = grace;
    options.linger = absl::Milliseconds(200);
    return options;
  }
};

TEST_F(CommandsStopTest, AStopSendsSigtermAndKeepsWhatWasWritten) {
  Commands commands(WithGrace(absl::Minutes(10)));
  NumberFifo fifo(directory_ + "/pids");
  FakeAttempt attempt;
  attempt.Start(*Make(commands, Sh("trap 'echo cleaned; exit 0' TERM; echo begun; echo $$ > " +
                                   fifo.path() + "; sleep 1000 > /dev/null 2>&1 & wait")));
  fifo.Read(1);
  attempt.Stop(absl::CancelledError("enough"));
  const Outcome outcome = attempt.Wait();
  EXPECT_EQ(outcome.status, absl::CancelledError("enough"));
  EXPECT_EQ(outcome.output.view(), "begun\ncleaned\n");
}

TEST_F(CommandsStopTest, AStoppedProcessStopsTooWhenItIsSuspended) {
  Commands commands(WithGrace(absl::Minutes(10)));
  NumberFifo fifo(directory_ + "/pids");
  FakeAttempt attempt;
  attempt.Start(
      *Make(commands, Sh("echo $$ > " + fifo.path() + "; kill -STOP $$; exec sleep 1000")));
  fifo.Read(1);
  attempt.Stop(absl::CancelledError("enough"));
  EXPECT_EQ(attempt.Wait().status, absl::CancelledError("enough"));
}

TEST_F(CommandsStopTest, SigkillFollowsAfterTheGrace) {
  Commands commands(WithGrace(absl::Milliseconds(50)));
  NumberFifo fifo(directory_ + "/pids");
  FakeAttempt attempt;
  attempt.Start(*Make(commands, Sh("trap '' TERM; echo stubborn; echo $$ > " + fifo.path() +
                                   "; while :; do sleep 1000; done")));
  const int pid = fifo.Read(1)[0];
  attempt.Stop(absl::DeadlineExceededError("late"));
  const Outcome outcome = attempt.Wait();
  EXPECT_EQ(outcome.status, absl::DeadlineExceededError("late"));
  EXPECT_EQ(outcome.output.view(), "stubborn\n");
  EXPECT_TRUE(Dies(pid, absl::ZeroDuration()));
}

TEST_F(CommandsStopTest, AStopEndsTheBackgroundChildrenOfAShell) {
  Commands commands(WithGrace(absl::Minutes(10)));
  NumberFifo fifo(directory_ + "/pids");
  FakeAttempt attempt;
  attempt.Start(
      *Make(commands, Sh("sleep 1000 & echo $! > " + fifo.path() + "; (sleep 1000 & echo $! > " +
                         fifo.path() + "; wait) & echo $! > " + fifo.path() + "; wait")));
  const std::vector<int> pids = fifo.Read(3);
  attempt.Stop(absl::CancelledError("enough"));
  EXPECT_EQ(attempt.Wait().status, absl::CancelledError("enough"));
  for (const int pid : pids) EXPECT_TRUE(Dies(pid)) << pid;
}

TEST_F(CommandsStopTest, AGrandchildThatHoldsTheOutputIsWaitedForOnlySoLong) {
  Commands commands(WithGrace(absl::Minutes(10)));
  NumberFifo fifo(directory_ + "/pids");
  const Outcome outcome =
      Run(commands, Sh("sleep 1000 & echo $! > " + fifo.path() + "; echo out; exit 0"));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.output.view(), "out\n");
  EXPECT_THAT(std::string(outcome.log.view()), HasSubstr("[jackdaw] other processes still held"));
  EXPECT_TRUE(Dies(fifo.Read(1)[0]));
}

TEST_F(CommandsStopTest, AGrandchildThatLeftTheGroupAndHoldsTheOutputIsGivenUp) {
  Commands commands(WithGrace(absl::Minutes(10)));
  const std::string there = File("there");
  NumberFifo fifo(directory_ + "/pids");
  const Outcome outcome = Run(commands, Sh("setsid sh -c 'echo $$ > " + fifo.path() + "; echo > " +
                                           there + "; exec sleep 1000' & while ! [ -s " + there +
                                           " ]; do sleep 0.01; done; echo out"));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.output.view(), "out\n");
  EXPECT_THAT(std::string(outcome.log.view()), HasSubstr("[jackdaw] other processes still held"));
  const int escaped = fifo.Read(1)[0];
  EXPECT_EQ(kill(escaped, SIGKILL), 0);  // It lives: it chose to. The test cleans up.
}

TEST_F(CommandsStopTest, WhatAGrandchildWritesSoonIsKept) {
  Commands::Options options = WithGrace(absl::Minutes(10));
  options.linger = absl::Minutes(10);
  Commands commands(options);
  const Outcome outcome = Run(commands, Sh("(sleep 0.1; echo late) & echo early"));
  EXPECT_EQ(outcome.output.view(), "early\nlate\n");
  EXPECT_TRUE(outcome.log.empty());
}

TEST_F(CommandsStopTest, AQuietGrandchildDiesWithTheCommand) {
  Commands commands(WithGrace(absl::Minutes(10)));
  NumberFifo fifo(directory_ + "/pids");
  const Outcome outcome =
      Run(commands, Sh("sleep 1000 > /dev/null 2>&1 & echo $! > " + fifo.path()));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.log.empty());
  EXPECT_TRUE(Dies(fifo.Read(1)[0]));
}

TEST_F(CommandsStopTest, AStopInsideDetachStartsNothing) {
  Commands commands(WithGrace(absl::Minutes(10)));
  const std::string file = File("touched");
  const Outcome outcome =
      Run(commands, Sh("echo > " + file), {.stop_in_detach = absl::CancelledError("early")});
  EXPECT_EQ(outcome.status, absl::CancelledError("early"));
  EXPECT_NE(access(file.c_str(), F_OK), 0);
}

TEST_F(CommandsStopTest, AStopInTheQueueStartsNothing) {
  Commands::Options options = WithGrace(absl::Minutes(10));
  options.max_running = 1;
  Commands commands(options);
  NumberFifo fifo(directory_ + "/pids");
  const std::string touched = File("touched");
  FakeAttempt first;
  FakeAttempt second;
  FakeAttempt third;
  // With exec: dash blocks signals while it starts a program, so one that is ended just then
  // leaves a child that never saw the signal and holds the output until the grace is over.
  first.Start(*Make(commands, Sh("echo $$ > " + fifo.path() + "; exec sleep 1000")));
  fifo.Read(1);
  second.Start(*Make(commands, Sh("echo > " + touched)));
  third.Start(*Make(commands, Sh("echo third")));
  second.Stop(absl::CancelledError("not needed"));
  EXPECT_EQ(second.Wait().status, absl::CancelledError("not needed"));
  EXPECT_EQ(commands.queued(), 1);
  EXPECT_EQ(commands.running(), 1);
  EXPECT_FALSE(first.finished());
  first.Stop(absl::CancelledError("enough"));
  EXPECT_EQ(third.Wait().output.view(), "third\n");
  EXPECT_NE(access(touched.c_str(), F_OK), 0);
  EXPECT_EQ(second.finish_count(), 1);
}

TEST_F(CommandsStopTest, AStopAfterTheEndChangesNothing) {
  Commands commands(WithGrace(absl::Minutes(10)));
  FakeAttempt attempt;
  EXPECT_TRUE(attempt.Run(*Make(commands, Sh("true"))).status.ok());
  attempt.Stop(absl::CancelledError("late"));
  EXPECT_TRUE(Run(commands, Sh("true")).status.ok());
  EXPECT_EQ(attempt.finish_count(), 1);
}

TEST_F(CommandsStopTest, TheDestructorKillsWhatRunsAndFinishesWhatWaits) {
  NumberFifo fifo(directory_ + "/pids");
  std::vector<std::unique_ptr<FakeAttempt>> attempts;
  std::shared_ptr<Action> action;
  std::vector<int> pids;
  {
    Commands::Options options = WithGrace(absl::Minutes(10));
    options.max_running = 2;
    Commands commands(options);
    action = Make(commands, Sh("trap '' TERM; echo $$ > " + fifo.path() + "; sleep 1000"));
    for (int i = 0; i < 5; ++i) {
      attempts.push_back(std::make_unique<FakeAttempt>());
      attempts.back()->Start(*action);
    }
    pids = fifo.Read(2);
  }
  for (const auto& attempt : attempts) {
    EXPECT_EQ(attempt->finish_count(), 1);
    EXPECT_EQ(attempt->Wait().status.code(), absl::StatusCode::kUnavailable);
  }
  for (const int pid : pids) EXPECT_TRUE(Dies(pid, absl::ZeroDuration())) << pid;
  FakeAttempt late;
  EXPECT_EQ(late.Run(*action).status.code(), absl::StatusCode::kUnavailable);
}

// As process 1 of a container, this process inherits the orphans of its commands.
TEST_F(CommandsStopTest, OrphansOfACommandAreReapedWhereThisProcessInheritsThem) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  {
    Commands commands(WithGrace(absl::Minutes(10)));
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(Run(commands, Sh("sleep 1000 >/dev/null 2>&1 & (true &) ; true")).status.ok());
    }
  }
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  siginfo_t info{};
  EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1) << info.si_pid;
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(CommandsStopTest, CommandsDieWithTheServer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // Known to both processes, for the second runs this test from its start.
  const std::string file = absl::StrCat(testing::TempDir(), "/jackdaw-dies-with-the-server");
  const auto server = [&] {
    Commands commands(AllowAll());
    FakeAttempt attempt;
    {
      NumberFifo started(directory_ + "/started");
      attempt.Start(*Make(commands, Sh("echo $$ > " + file + "; echo $$ > " + started.path() +
                                       "; exec sleep 1000")));
      started.Read(1);
    }
    rmdir(directory_.c_str());
    raise(SIGKILL);
  };
  EXPECT_EXIT(server(), testing::KilledBySignal(SIGKILL), "");
  int pid = 0;
  ASSERT_TRUE(absl::SimpleAtoi(ReadFile(file), &pid)) << ReadFile(file);
  EXPECT_TRUE(Dies(pid));
  unlink(file.c_str());
}

}  // namespace
}  // namespace jackdaw
