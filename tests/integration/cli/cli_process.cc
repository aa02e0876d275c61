#include "tests/integration/cli/cli_process.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace jackdaw::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr unsigned short kTerminalColumns = 60;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The test's own environment, but for what would change the program's manners.
std::vector<std::string> Environment(const std::string& server) {
  std::vector<std::string> variables = {absl::StrCat("JACKDAW_SERVER=", server), "TERM=xterm"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view text = *variable;
    if (absl::StartsWith(text, "JACKDAW_SERVER=") || absl::StartsWith(text, "TERM=") ||
        absl::StartsWith(text, "NO_COLOR=")) {
      continue;
    }
    variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int OpenTerminal(std::string* name) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  grantpt(terminal);
  unlockpt(terminal);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = kTerminalColumns;
  ioctl(terminal, TIOCSWINSZ, &size);
  *name = ptsname(terminal);
  return terminal;
}

}  // namespace

CliProcess::CliProcess(const std::string& directory, const std::string& server,
                       std::vector<std::string> arguments, Stderr stderr_to) {
  static int count = 0;
  ++count;
  out_path_ = absl::StrCat(directory, "/out", count);
  err_path_ = absl::StrCat(directory, "/err", count);
  int err_flags = O_WRONLY | O_CREAT | O_TRUNC;
  if (stderr_to == Stderr::kTerminal) {
    terminal_ = OpenTerminal(&err_path_);
    err_flags = O_WRONLY | O_NOCTTY;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, 2, err_path_.c_str(), err_flags, 0600);
  std::vector<std::string> variables = Environment(server);
  if (posix_spawnp(&pid_, arguments[0].c_str(), &actions, nullptr, Pointers(arguments).data(),
                   Pointers(variables).data()) != 0) {
    ADD_FAILURE() << "cannot start " << arguments[0];
    ended_ = true;
  }
  posix_spawn_file_actions_destroy(&actions);
}

CliProcess::~CliProcess() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) close(terminal_);
}

void CliProcess::Signal(int signal) const { kill(pid_, signal); }

int CliProcess::Wait() {
  const absl::Time deadline = absl::Now() + kPatience;
  while (!ended_ && absl::Now() < deadline) {
    DrainTerminal();
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      ended_ = true;
      DrainTerminal();
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    absl::SleepFor(absl::Milliseconds(2));
  }
  ADD_FAILURE() << "the program did not end";
  return -1;
}

std::string CliProcess::out() const { return ReadFile(out_path_); }

std::string CliProcess::err() {
  if (terminal_ < 0) return ReadFile(err_path_);
  DrainTerminal();
  return from_terminal_;
}

void CliProcess::DrainTerminal() {
  pollfd readable{terminal_, POLLIN, 0};
  std::array<char, 4096> buffer;
  while (terminal_ >= 0 && poll(&readable, 1, 0) > 0) {
    const ssize_t got = read(terminal_, buffer.data(), buffer.size());
    if (got <= 0) return;
    from_terminal_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void CliTest::SetUp() {
  auto server =
      ServerProcess::Start(JACKDAW_SERVER_PROGRAM, {"--allow-commands", "--workers", "2"});
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
}

std::unique_ptr<CliProcess> CliTest::StartCli(std::vector<std::string> arguments,
                                              CliProcess::Stderr stderr_to) {
  arguments.insert(arguments.begin(), JACKDAW_CLI);
  return std::make_unique<CliProcess>(server_->directory(), server_->address(),
                                      std::move(arguments), stderr_to);
}

CliResult CliTest::CliAt(const std::string& server, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), JACKDAW_CLI);
  CliProcess process(server_->directory(), server, std::move(arguments));
  const int code = process.Wait();
  return {code, process.out(), process.err()};
}

CliResult CliTest::Program(std::vector<std::string> arguments) {
  CliProcess process(server_->directory(), server_->address(), std::move(arguments));
  const int code = process.Wait();
  return {code, process.out(), process.err()};
}

std::string CliTest::WriteFile(const std::string& name, const std::string& text) const {
  const std::string path = absl::StrCat(server_->directory(), "/", name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string CliTest::Example(const std::string& name) {
  return absl::StrCat(JACKDAW_EXAMPLES, "/", name);
}

bool Eventually(const std::function<bool()>& condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

google::protobuf::Struct Json(const std::string& text) {
  google::protobuf::Struct json;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &json);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
  return json;
}

}  // namespace jackdaw::testing
