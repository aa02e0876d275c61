// CliProcess: `jackdaw` run as a user runs it, and CliTest: tests of it with a server of
// their own.
//
// Thread safety: none.

#ifndef JACKDAW_TESTS_INTEGRATION_CLI_CLI_PROCESS_H_
#define JACKDAW_TESTS_INTEGRATION_CLI_CLI_PROCESS_H_

#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/server_process.h"

namespace jackdaw::testing {

class CliProcess {
 public:
  enum class Stderr { kFile, kTerminal };  // kTerminal: a pseudo-terminal of 60 columns.

  // Starts `arguments[0]`, found in PATH, with JACKDAW_SERVER set to `server`. Its outputs go
  // to files in `directory`.
  CliProcess(const std::string& directory, const std::string& server,
             std::vector<std::string> arguments, Stderr stderr_to = Stderr::kFile);
  // Kills what still runs.
  ~CliProcess();
  CliProcess(const CliProcess&) = delete;
  CliProcess& operator=(const CliProcess&) = delete;

  void Signal(int signal) const;
  // Its exit code, or minus the signal that ended it.
  int Wait();
  [[nodiscard]] std::string out() const;
  // So far. Of a terminal: what came out of it, with \r\n as line ends.
  [[nodiscard]] std::string err();

 private:
  void DrainTerminal();

  std::string out_path_;
  std::string err_path_;
  int terminal_ = -1;
  std::string from_terminal_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

struct CliResult {
  int code = -1;
  std::string out;
  std::string err;
};

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // `jackdaw` with these arguments, to its end.
  CliResult Cli(std::vector<std::string> arguments) { return CliAt(server_->address(), arguments); }
  CliResult CliAt(const std::string& server, std::vector<std::string> arguments);
  // Starts it and leaves it running.
  std::unique_ptr<CliProcess> StartCli(std::vector<std::string> arguments,
                                       CliProcess::Stderr stderr_to = CliProcess::Stderr::kFile);
  // Any program.
  CliResult Program(std::vector<std::string> arguments);

  // Writes a file into the test's directory and returns its path.
  std::string WriteFile(const std::string& name, const std::string& text) const;
  static std::string Example(const std::string& name);

  std::unique_ptr<ServerProcess> server_;
};

// Whether `condition` came true within half a minute.
bool Eventually(const std::function<bool()>& condition);

// Parses strictly; an empty struct and a failure of the test if it is not a JSON object.
google::protobuf::Struct Json(const std::string& text);

}  // namespace jackdaw::testing

#endif  // JACKDAW_TESTS_INTEGRATION_CLI_CLI_PROCESS_H_
