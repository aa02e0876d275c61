// Many commands, few resources, and nothing left over.

#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/exec/commands.h"
#include "scheduler/exec/program_stats.h"
#include "tests/scheduler/exec/command_fixture.h"

namespace jackdaw {
namespace {

using ::testing::HasSubstr;

class CommandsManyTest : public CommandsTest {
 protected:
  static void ExpectNoChildren() {
    siginfo_t info{};
    EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1) << info.si_pid;
    EXPECT_EQ(errno, ECHILD);
  }
};

TEST_F(CommandsManyTest, TwoThousandCommandsLeaveNoZombieDescriptorOrThread) {
  const int descriptors = CountEntries("/proc/self/fd");
  const int threads = CountEntries("/proc/self/task");
  {
    Commands commands(AllowAll());
    CommandSpec spec;
    spec.argv = {"/bin/true"};
    const std::shared_ptr<Action> action = Make(commands, spec);
    const int with_commands = CountEntries("/proc/self/fd");
    std::vector<std::unique_ptr<FakeAttempt>> attempts;
    for (int i = 0; i < 2000; ++i) {
      attempts.push_back(std::make_unique<FakeAttempt>());
      attempts.back()->Start(*action);
    }
    for (const auto& attempt : attempts) {
      const Outcome outcome = attempt->Wait();
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      ASSERT_EQ(attempt->finish_count(), 1);
    }
    EXPECT_EQ(commands.running(), 0);
    EXPECT_EQ(commands.queued(), 0);
    EXPECT_EQ(CountEntries("/proc/self/fd"), with_commands);
    ExpectNoChildren();
  }
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors);
  EXPECT_EQ(CountEntries("/proc/self/task"), threads);
}

TEST_F(CommandsManyTest, NoMoreRunAtOnceThanAllowed) {
  Commands::Options options = AllowAll();
  options.max_running = 3;
  Commands commands(options);
  // Each makes a directory, counts those that are there, and removes it.
  CommandSpec spec = Sh("mkdir $0.$$; set -- $0.*; echo $#; sleep 0.01; rmdir $0.$$");
  spec.argv.push_back(directory_ + "/slot");
  const std::shared_ptr<Action> slots = Make(commands, spec);
  std::vector<std::unique_ptr<FakeAttempt>> attempts;
  for (int i = 0; i < 30; ++i) {
    attempts.push_back(std::make_unique<FakeAttempt>());
    attempts.back()->Start(*slots);
  }
  int most = 0;
  for (const auto& attempt : attempts) {
    int seen = 0;
    ASSERT_TRUE(absl::SimpleAtoi(attempt->Wait().output.view(), &seen));
    most = std::max(most, seen);
  }
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 2);
}

TEST_F(CommandsManyTest, AttemptsWaitWhileTheSystemHasNoDescriptorLeft) {
  Commands::Options options = AllowAll();
  options.max_running = 50;
  Commands commands(options);
  const std::shared_ptr<Action> action = Make(commands, Sh("cat", CommandSpec::Stdin::kPayload));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  // Enough for two or three commands beside what is open already (two entries are dots, one
  // is the listing's).
  low.rlim_cur = static_cast<rlim_t>(CountEntries("/proc/self/fd") - 3 + 14);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<std::unique_ptr<FakeAttempt>> attempts;
  for (int i = 0; i < 60; ++i) {
    attempts.push_back(
        std::make_unique<FakeAttempt>(FakeAttempt::Options{.payload = absl::StrCat(i)}));
    attempts.back()->Start(*action);
  }
  for (int i = 0; i < 60; ++i) {
    const Outcome outcome = attempts[static_cast<std::size_t>(i)]->Wait();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.output.view(), absl::StrCat(i));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(CommandsManyTest, WithoutAnyDescriptorAnAttemptFailsAndTheNextOneWorks) {
  Commands commands(AllowAll());
  const std::shared_ptr<Action> action = Make(commands, Sh("true"));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = static_cast<rlim_t>(CountEntries("/proc/self/fd") - 3 + 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  FakeAttempt starved;
  const Outcome outcome = starved.Run(*action);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << outcome.status;
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("Too many open files"));
  FakeAttempt next;
  EXPECT_TRUE(next.Run(*action).status.ok());
}

TEST_F(CommandsManyTest, ManyThreadsMayStartAndStopAtOnce) {
  Commands::Options options = AllowAll();
  options.grace = absl::Minutes(10);
  Commands commands(options);
  const std::shared_ptr<Action> quick = Make(commands, Sh("echo hello"));
  const std::shared_ptr<Action> slow = Make(commands, Sh("exec sleep 1000"));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        FakeAttempt runs;
        FakeAttempt stops;
        runs.Start(*quick);
        stops.Start(*slow);
        if ((i + t) % 2 == 0) std::this_thread::yield();
        stops.Stop(absl::CancelledError("stop"));
        if (runs.Wait().output.view() == "hello\n") good.fetch_add(1);
        if (absl::IsCancelled(stops.Wait().status)) good.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 4 * 25 * 2);
  EXPECT_EQ(commands.running(), 0);
}

TEST_F(CommandsManyTest, ADestructorInTheMiddleOfManyLeavesNothing) {
  const int descriptors = CountEntries("/proc/self/fd");
  std::vector<std::unique_ptr<FakeAttempt>> attempts;
  {
    Commands commands(AllowAll());
    const std::shared_ptr<Action> action = Make(commands, Sh("sleep 0.01; echo x"));
    for (int i = 0; i < 200; ++i) {
      attempts.push_back(std::make_unique<FakeAttempt>());
      attempts.back()->Start(*action);
    }
    attempts[3]->Wait();
  }
  for (const auto& attempt : attempts) EXPECT_EQ(attempt->finish_count(), 1);
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors);
  ExpectNoChildren();
}

TEST_F(CommandsManyTest, ActionsOfOneProgramShareTheirStatistics) {
  Commands commands(AllowAll());
  CommandSpec spec;
  spec.argv = {"/bin/true"};
  const std::shared_ptr<Action> first = Make(commands, spec);
  spec.argv = {"true", "other", "arguments"};
  const std::shared_ptr<Action> second = Make(commands, spec);
  EXPECT_EQ(first->stats(), second->stats());
  EXPECT_EQ(first->stats()->metric_name(), "true");
  EXPECT_EQ(first->kind(), "command");
  ASSERT_EQ(commands.stats().size(), 2u);
  EXPECT_EQ(commands.stats()[1]->metric_name(), "__other__");
}

TEST_F(CommandsManyTest, ProgramsThatDoNotExistShareOneName) {
  Commands commands(AllowAll());
  CommandSpec spec;
  for (int i = 0; i < 1000; ++i) {
    spec.argv = {absl::StrCat("/no/such/program", i)};
    EXPECT_EQ(Make(commands, spec)->stats()->metric_name(), "__other__");
  }
  EXPECT_EQ(commands.stats().size(), 1u);
}

}  // namespace
}  // namespace jackdaw
