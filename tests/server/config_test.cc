// The command line of jackdawd, its environment and its file.

#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommandLine Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "jackdawd");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ConfigTest, WithoutFlagsTheDefaultsHold) {
  const CommandLine line = Parse({});
  ASSERT_TRUE(line.serve.has_value()) << line.text;
  EXPECT_THAT(line.serve->listen, ElementsAre("127.0.0.1:7433"));
  EXPECT_EQ(line.serve->metrics, "127.0.0.1:9433");
  EXPECT_EQ(line.serve->health, "");
  EXPECT_EQ(line.serve->workers, -1);
  EXPECT_FALSE(line.serve->commands.allow_all);
  EXPECT_EQ(line.serve->grace, absl::Seconds(30));
  EXPECT_EQ(line.serve->socket_mode, 0660);
}

TEST(ConfigTest, FlagsAreTakenOver) {
  const CommandLine line =
      Parse({"--listen",        "127.0.0.1:1", "--listen",          "unix:/run/j.sock",
             "--metrics",       "off",         "--health",          "0.0.0.0:2",
             "--workers",       "4",           "--allow-command",   "tr",
             "--allow-command", "sort",        "--grace",           "1m",
             "--socket-mode",   "600",         "--max-active-jobs", "7"});
  ASSERT_TRUE(line.serve.has_value()) << line.text;
  EXPECT_THAT(line.serve->listen, ElementsAre("127.0.0.1:1", "unix:/run/j.sock"));
  EXPECT_EQ(line.serve->metrics, "");
  EXPECT_EQ(line.serve->health, "0.0.0.0:2");
  EXPECT_EQ(line.serve->workers, 4);
  EXPECT_THAT(line.serve->commands.allowed, ElementsAre("tr", "sort"));
  EXPECT_EQ(line.serve->grace, absl::Minutes(1));
  EXPECT_EQ(line.serve->socket_mode, 0600);
  EXPECT_EQ(line.serve->limits.max_active_jobs, 7);
}

TEST(ConfigTest, TheEnvironmentSetsEveryFlagAndTheCommandLineWins) {
  setenv("JACKDAW_WORKERS", "3", 1);
  setenv("JACKDAW_MAX_ACTIVE_JOBS", "9", 1);
  setenv("JACKDAW_ALLOW_COMMANDS", "true", 1);
  const CommandLine line = Parse({"--workers", "5"});
  unsetenv("JACKDAW_WORKERS");
  unsetenv("JACKDAW_MAX_ACTIVE_JOBS");
  unsetenv("JACKDAW_ALLOW_COMMANDS");
  ASSERT_TRUE(line.serve.has_value()) << line.text;
  EXPECT_EQ(line.serve->workers, 5);
  EXPECT_EQ(line.serve->limits.max_active_jobs, 9);
  EXPECT_TRUE(line.serve->commands.allow_all);
}

TEST(ConfigTest, AFileSetsFlagsToo) {
  const auto path =
      std::filesystem::temp_directory_path() / ("jackdaw_config_test." + std::to_string(getpid()));
  std::ofstream(path) << "workers = 2\nlisten = [\"127.0.0.1:5\", \"unix:/a\"]\ngrace = \"5s\"\n";
  const std::string name = path.string();
  const CommandLine line = Parse({"--config", name.c_str()});
  std::filesystem::remove(path);
  ASSERT_TRUE(line.serve.has_value()) << line.text;
  EXPECT_EQ(line.serve->workers, 2);
  EXPECT_THAT(line.serve->listen, ElementsAre("127.0.0.1:5", "unix:/a"));
  EXPECT_EQ(line.serve->grace, absl::Seconds(5));
}

TEST(ConfigTest, WhatIsWrongIsNamed) {
  const std::pair<std::vector<const char*>, const char*> wrong[] = {
      {{"--listen", "nonsense"}, "--listen"},
      {{"--workers", "0"}, "--workers"},
      {{"--grace", "soon"}, "--grace"},
      {{"--socket-mode", "9"}, "--socket-mode"},
      {{"--metrics", "x"}, "--metrics"},
      {{"--log-level", "loud"}, "--log-level"},
      {{"--max-active-jobs", "-1"}, "--max-active-jobs"},
      {{"--no-such-flag"}, "--no-such-flag"}};
  for (const auto& [arguments, flag] : wrong) {
    const CommandLine line = Parse(arguments);
    EXPECT_FALSE(line.serve.has_value());
    EXPECT_EQ(line.exit_code, 2);
    EXPECT_THAT(line.text, HasSubstr(flag));
  }
}

TEST(ConfigTest, HelpHasExamplesAndVersionIsOneLine) {
  const CommandLine help = Parse({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.text, HasSubstr("Examples:"));
  EXPECT_THAT(help.text, HasSubstr("JACKDAW_WORKERS"));
  const CommandLine version = Parse({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.text, HasSubstr("jackdawd 0."));
}

}  // namespace
}  // namespace jackdaw
