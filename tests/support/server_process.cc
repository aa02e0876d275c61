#include "tests/support/server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace jackdaw::testing {
namespace {

constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kEndTimeout = absl::Seconds(10);
constexpr absl::Duration kPoll = absl::Milliseconds(5);

absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return absl::InternalError(absl::StrCat("cannot start ", command[0], ": ", strerror(error)));
}

}  // namespace

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::string& program, const std::vector<std::string>& arguments) {
  std::unique_ptr<ServerProcess> server(new ServerProcess());
  std::string pattern = (std::filesystem::temp_directory_path() / "jackdawd-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return absl::InternalError("cannot make a directory");
  server->directory_ = pattern;
  server->address_ = absl::StrCat("unix:", pattern, "/jackdaw.sock");
  server->metrics_port_ = FreePort();
  std::vector<std::string> command = {program, "--listen", server->address_, "--metrics",
                                      absl::StrCat("127.0.0.1:", server->metrics_port_)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  absl::StatusOr<pid_t> pid = Spawn(command, pattern + "/log");
  if (!pid.ok()) return pid.status();
  server->pid_ = *pid;
  if (absl::Status status = server->WaitUntilServing(); !status.ok()) return status;
  return server;
}

absl::Status ServerProcess::WaitUntilServing() {
  const auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  const absl::Time until = absl::Now() + kStartTimeout;
  while (absl::Now() < until) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      std::ifstream log(directory_ + "/log");
      std::ostringstream text;
      text << log.rdbuf();
      return absl::InternalError(absl::StrCat("jackdawd ended at its start: ", text.str()));
    }
    const auto deadline = std::chrono::system_clock::now() + std::chrono::milliseconds(50);
    if (channel->WaitForConnected(deadline)) return absl::OkStatus();
  }
  return absl::DeadlineExceededError("jackdawd does not serve");
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    Signal(SIGTERM);
    if (!Wait(kEndTimeout).ok()) {
      Signal(SIGKILL);
      (void)Wait(kEndTimeout);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ServerProcess::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

absl::StatusOr<int> ServerProcess::Wait(absl::Duration longest) {
  const absl::Time until = absl::Now() + longest;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    if (ended < 0) return absl::InternalError(strerror(errno));
    if (absl::Now() > until) return absl::DeadlineExceededError("jackdawd does not end");
    absl::SleepFor(kPoll);
  }
}

absl::Duration ServerProcess::CpuTime() const {
  std::ifstream stat(absl::StrCat("/proc/", pid_, "/stat"));
  std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return absl::Seconds(1) * (user + system) / sysconf(_SC_CLK_TCK);
}

long ServerProcess::ResidentBytes() const {
  std::ifstream statm(absl::StrCat("/proc/", pid_, "/statm"));
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace jackdaw::testing
