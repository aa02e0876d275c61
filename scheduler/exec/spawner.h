// Spawner: starts processes without copying this one. The child borrows this process's
// memory until it executes its program (CLONE_VM | CLONE_VFORK), so the cost does not grow
// with the server, and hands back a pidfd, so that nobody ever waits for a mere number.
//
// What the child is given, and nothing else: three descriptors, a session and process group
// of its own (its id is the process's), default signal dispositions, an empty signal mask,
// and SIGKILL when the thread that spawned it ends.
//
// Thread safety: one thread, which blocks every signal (a handler must not run in the
// child) and outlives the processes.

#ifndef JACKDAW_SCHEDULER_EXEC_SPAWNER_H_
#define JACKDAW_SCHEDULER_EXEC_SPAWNER_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "scheduler/base/unique_fd.h"

namespace jackdaw {

struct SpawnRequest {
  const char* path = nullptr;  // The file to execute, from the working directory if relative.
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* working_directory = nullptr;  // Null: this process's.
  int stdin_fd = -1;                        // All above 2.
  int stdout_fd = -1;
  int stderr_fd = -1;
};

struct SpawnedProcess {
  pid_t pid = -1;
  UniqueFd pidfd;
};

class Spawner {
 public:
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Returns once the program runs or could not be started; then nothing is left of it.
  // NOT_FOUND: no such program, interpreter or working directory. PERMISSION_DENIED: not
  // executable, or the directory not to be entered. INVALID_ARGUMENT: arguments too long, or
  // no program at all. UNAVAILABLE or RESOURCE_EXHAUSTED: the system has no process,
  // descriptor or memory left; worth trying again.
  absl::StatusOr<SpawnedProcess> Spawn(const SpawnRequest& request);

 private:
  static constexpr std::size_t kStackBytes = 64 * 1024;
  const std::unique_ptr<char[]> stack_;  // The child's, until it executes.
};

// A pipe whose ends are above 2 and close on exec. `nonblocking_end` 0: the reading end does
// not block; 1: the writing end.
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
[[nodiscard]] absl::StatusOr<Pipe> MakePipe(int nonblocking_end);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_SPAWNER_H_
