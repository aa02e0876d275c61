// What the tests of commands share: real programs, run without an engine.

#ifndef JACKDAW_TESTS_SCHEDULER_EXEC_COMMAND_FIXTURE_H_
#define JACKDAW_TESTS_SCHEDULER_EXEC_COMMAND_FIXTURE_H_

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/base/unique_fd.h"
#include "scheduler/exec/commands.h"
#include "tests/support/fake_attempt.h"

namespace jackdaw {

// How many entries a directory such as /proc/self/fd or /proc/self/task has.
inline int CountEntries(const char* directory) {
  DIR* dir = opendir(directory);
  if (dir == nullptr) return -1;
  int count = 0;
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Whether process `pid` is dead, or dies within `patience`. A zombie that somebody else
// ought to reap is dead.
inline bool Dies(int pid, absl::Duration patience = absl::Seconds(20)) {
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return errno == ESRCH;
  pollfd poller{pidfd.get(), POLLIN, 0};
  return poll(&poller, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) == 1;
}

// Where commands write numbers, one a line, and the test waits for them.
class NumberFifo {
 public:
  explicit NumberFifo(std::string path) : path_(std::move(path)) {
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    fd_ = UniqueFd(open(path_.c_str(), O_RDWR | O_CLOEXEC));  // Never at its end.
  }
  ~NumberFifo() { unlink(path_.c_str()); }

  // For the shell: `echo $$ > path`.
  const std::string& path() const { return path_; }

  // The next `count` numbers; fewer if they do not come within a minute.
  std::vector<int> Read(int count) {
    std::vector<int> numbers;
    std::string line;
    pollfd poller{fd_.get(), POLLIN, 0};
    while (static_cast<int>(numbers.size()) < count && poll(&poller, 1, 60'000) == 1) {
      char c;
      if (read(fd_.get(), &c, 1) != 1) break;
      if (c != '\n') {
        line += c;
        continue;
      }
      int number = 0;
      EXPECT_TRUE(absl::SimpleAtoi(line, &number)) << line;
      numbers.push_back(number);
      line.clear();
    }
    EXPECT_EQ(static_cast<int>(numbers.size()), count);
    return numbers;
  }

 private:
  const std::string path_;
  UniqueFd fd_;
};

class CommandsTest : public ::testing::Test {
 protected:
  static Commands::Options AllowAll() {
    Commands::Options options;
    options.allow_all = true;
    options.max_running = 4;
    return options;
  }
  static CommandSpec Sh(std::string script, CommandSpec::Stdin from = CommandSpec::Stdin::kEmpty) {
    CommandSpec spec;
    spec.argv = {"sh", "-c", std::move(script)};
    spec.stdin_from = from;
    return spec;
  }
  static std::shared_ptr<Action> Make(Commands& commands, CommandSpec spec) {
    absl::StatusOr<std::shared_ptr<Action>> action = commands.Make(std::move(spec));
    EXPECT_TRUE(action.ok()) << action.status();
    return *action;
  }
  static Outcome Run(Commands& commands, CommandSpec spec, FakeAttempt::Options options = {}) {
    FakeAttempt attempt(std::move(options));
    Outcome outcome = attempt.Run(*Make(commands, std::move(spec)));
    EXPECT_EQ(attempt.finish_count(), 1);
    return outcome;
  }

  // A directory that goes with the test.
  CommandsTest() {
    std::string name = absl::StrCat(testing::TempDir(), "/jackdaw-commands-XXXXXX");
    directory_ = mkdtemp(name.data());
  }
  ~CommandsTest() override {
    std::error_code error;
    std::filesystem::remove_all(directory_, error);
  }
  // The path of a file in it, which goes too.
  [[nodiscard]] std::string File(const std::string& name) const {
    return absl::StrCat(directory_, "/", name);
  }
  std::string directory_;
};

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SCHEDULER_EXEC_COMMAND_FIXTURE_H_
