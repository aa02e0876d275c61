// Server: a whole Jackdaw server. `jackdawd` is one with the stock functions; a team that
// has functions of its own writes
//
//   int main() {
//     jackdaw::Server server(jackdaw::ServerOptions{});
//     absl::Status status = server.functions().Register("double", [](jackdaw::Attempt& attempt) {
//       return jackdaw::Bytes::Copy(Double(attempt.payload().view()));
//     });
//     return status.ok() ? server.Run() : 1;
//   }
//
// Thread safety: one thread makes, starts and ends it; BeginDrain() from any thread.

#ifndef JACKDAW_SERVER_SERVER_H_
#define JACKDAW_SERVER_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/exec/functions.h"
#include "server/options.h"

namespace jackdaw {

class Server {
 public:
  explicit Server(ServerOptions options);
  // Stop(), with no time for running jobs.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // What tasks can call; the stock functions are there. Add before Start().
  [[nodiscard]] Functions& functions();

  // Listens and serves. INVALID_ARGUMENT: an option is out of range. FAILED_PRECONDITION or
  // UNAVAILABLE: an address cannot be had. After an error the server cannot be started again.
  absl::Status Start();

  // Start() and, once SIGTERM or SIGINT came, Stop() with the grace of the options. Returns
  // the process's exit code: 0 after a drain, 1 if it could not start (it then says why). A
  // second signal ends the process at once, with 128 plus the signal's number as shells do:
  // 143 for SIGTERM, 130 for SIGINT. Logs to standard error.
  int Run();

  // Turns readiness off and refuses new jobs. Returns at once.
  void BeginDrain();

  // BeginDrain(); waits for running jobs, at most for `grace`; cancels the rest; ends all
  // calls. Idempotent.
  void Stop(absl::Duration grace);

  // Where it listens, with the ports that the system chose. Empty before Start() and for
  // what is off.
  [[nodiscard]] const std::vector<std::string>& addresses() const;
  [[nodiscard]] const std::string& metrics_address() const;
  [[nodiscard]] const std::string& health_address() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_SERVER_H_
