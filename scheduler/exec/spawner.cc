#include "scheduler/exec/spawner.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/exec/safe_text.h"

// ThreadSanitizer's own clone() takes the child for a forked copy of the process and tells
// the calling thread, whose memory it shares, to record nothing from then on. The C library
// has the same function under this name as well.
#ifdef __SANITIZE_THREAD__
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);
#define JACKDAW_CLONE __clone
#else
#define JACKDAW_CLONE clone
#endif

namespace jackdaw {
namespace {

enum class Step { kNone, kPrepare, kDirectory, kExecute };

// Shared with the child, which writes `failed_step` and `error` while this thread waits.
struct Launch {
  SpawnRequest request;
  pid_t parent = 0;
  Step failed_step = Step::kNone;
  int error = 0;
};

// The child must not touch more than it has to: it shares memory with other threads that
// may hold any lock. So: plain system calls, no instrumentation, no library state.
#define JACKDAW_IN_CHILD __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

JACKDAW_IN_CHILD bool ResetSignals() {
  // All zero is SIG_DFL in the kernel's own layout, which is at most this large.
  constexpr std::size_t kKernelSigsetBytes = 8;
  alignas(8) char defaults[64];
  for (char& byte : defaults) *const_cast<volatile char*>(&byte) = 0;
  for (int number = 1; number <= 64; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    syscall(SYS_rt_sigaction, number, defaults, nullptr, kKernelSigsetBytes);
  }
  return syscall(SYS_rt_sigprocmask, SIG_SETMASK, defaults, nullptr, kKernelSigsetBytes) == 0;
}

// Before Linux 5.9, and where a sandbox knows no close_range, closes one by one.
JACKDAW_IN_CHILD void CloseFrom(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  constexpr int kMostDescriptors = 65536;
  for (int fd = first; fd < kMostDescriptors; ++fd) syscall(SYS_close, fd);
}

JACKDAW_IN_CHILD bool Prepare(const Launch& launch) {
  if (syscall(SYS_setsid) < 0) return false;
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return false;
  // The parent may have died before it was being watched. Zero: it is in another namespace.
  const long parent = syscall(SYS_getppid);
  if (parent != launch.parent && parent != 0) {
    errno = ESRCH;
    return false;
  }
  if (!ResetSignals()) return false;
  if (syscall(SYS_dup3, launch.request.stdin_fd, 0, 0) < 0) return false;
  if (syscall(SYS_dup3, launch.request.stdout_fd, 1, 0) < 0) return false;
  if (syscall(SYS_dup3, launch.request.stderr_fd, 2, 0) < 0) return false;
  CloseFrom(3);
  return true;
}

JACKDAW_IN_CHILD int ChildMain(void* argument) {
  auto* launch = static_cast<Launch*>(argument);
  const SpawnRequest& request = launch->request;
  launch->failed_step = Step::kPrepare;
  if (Prepare(*launch)) {
    launch->failed_step = Step::kDirectory;
    if (request.working_directory == nullptr ||
        syscall(SYS_chdir, request.working_directory) == 0) {
      launch->failed_step = Step::kExecute;
      syscall(SYS_execve, request.path, request.argv, request.envp);
    }
  }
  launch->error = errno;
  syscall(SYS_exit, 127);
  return 127;
}

#undef JACKDAW_IN_CHILD

absl::Status SystemError(int error, const std::string& what) {
  switch (error) {
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(absl::StrCat("the system refused to start a process: ",
                                                       absl::ErrnoToStatus(error, what).message()));
    case ENOEXEC:
      return absl::InvalidArgumentError(
          absl::StrCat(what,
                       ": not a program: neither a binary of this machine nor a script "
                       "that names its interpreter"));
    default:
      return absl::ErrnoToStatus(error, what);
  }
}

absl::Status FailureOf(const Launch& launch) {
  const SpawnRequest& request = launch.request;
  switch (launch.failed_step) {
    case Step::kDirectory:
      return SystemError(launch.error, absl::StrCat("working_directory \"",
                                                    SafeText(request.working_directory), "\""));
    case Step::kExecute:
      return SystemError(launch.error,
                         absl::StrCat("program \"", SafeText(request.path), "\"",
                                      launch.error == ENOENT ? " or its interpreter" : ""));
    default:
      return SystemError(launch.error, "preparing the process");
  }
}

}  // namespace

Spawner::Spawner() : stack_(std::make_unique<char[]>(kStackBytes)) {}
Spawner::~Spawner() = default;

absl::StatusOr<SpawnedProcess> Spawner::Spawn(const SpawnRequest& request) {
  Launch launch;
  launch.request = request;
  launch.parent = getpid();
  // The stack grows down, and starts on the alignment that every ABI here asks for.
  const auto top =
      (reinterpret_cast<std::uintptr_t>(stack_.get()) + kStackBytes) & ~std::uintptr_t{15};
  int pidfd = -1;
  const int pid = JACKDAW_CLONE(&ChildMain, reinterpret_cast<void*>(top),
                                CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &launch, &pidfd);
  if (pid < 0) return SystemError(errno, "clone");
  SpawnedProcess process{pid, UniqueFd(pidfd)};
  // An executed program leaves `error` as it was; one that died earlier by a signal has it
  // zero as well, and is reaped like any other.
  if (launch.error == 0) return process;
  siginfo_t info;
  while (waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &info, WEXITED) != 0 &&
         errno == EINTR) {
  }
  return FailureOf(launch);
}

absl::StatusOr<Pipe> MakePipe(int nonblocking_end) {
  std::array<int, 2> fds;
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return SystemError(errno, "pipe");
  std::array<UniqueFd, 2> ends{UniqueFd(fds[0]), UniqueFd(fds[1])};
  for (UniqueFd& end : ends) {
    // A process whose own standard streams are closed gets their numbers here; the child
    // needs those free.
    if (end.get() > 2) continue;
    UniqueFd moved(fcntl(end.get(), F_DUPFD_CLOEXEC, 3));
    if (!moved.valid()) return SystemError(errno, "pipe");
    end = std::move(moved);
  }
  const int fd = ends[static_cast<std::size_t>(nonblocking_end)].get();
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return SystemError(errno, "pipe");
  return Pipe{std::move(ends[0]), std::move(ends[1])};
}

}  // namespace jackdaw
