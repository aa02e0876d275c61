// ServerProcess: a real jackdawd of a test's or a benchmark's own, on a Unix socket and free
// ports, in a directory that goes with it.
//
// Thread safety: none.

#ifndef JACKDAW_TESTS_SUPPORT_SERVER_PROCESS_H_
#define JACKDAW_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace jackdaw::testing {

class ServerProcess {
 public:
  // Starts `program` with `--listen unix:...` and `--metrics 127.0.0.1:<free port>` before
  // `arguments`, and waits until it serves. Its messages go to `<directory>/log`.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(
      const std::string& program, const std::vector<std::string>& arguments = {});

  // Ends it by SIGTERM, then, if it does not heed that for ten seconds, by SIGKILL.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // `unix:PATH`, for clients.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int metrics_port() const { return metrics_port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

  void Signal(int signal) const;
  // Waits for the end: its exit status, or minus the signal that killed it. Once.
  absl::StatusOr<int> Wait(absl::Duration longest);

  // What the process has used of a processor so far, and the memory it has now.
  [[nodiscard]] absl::Duration CpuTime() const;
  [[nodiscard]] long ResidentBytes() const;

 private:
  ServerProcess() = default;
  absl::Status WaitUntilServing();

  std::string directory_;
  std::string address_;
  int metrics_port_ = 0;
  pid_t pid_ = -1;
};

// A TCP port of 127.0.0.1 that was free a moment ago.
[[nodiscard]] int FreePort();

}  // namespace jackdaw::testing

#endif  // JACKDAW_TESTS_SUPPORT_SERVER_PROCESS_H_
