// The command line of `jackdawd`, with its environment and its configuration file.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_CONFIG_H_
#define JACKDAW_SERVER_CONFIG_H_

#include <optional>
#include <string>

#include "server/options.h"

namespace jackdaw {

// What the command line asks for: to serve with these options, or to print something and
// exit.
struct CommandLine {
  std::optional<ServerOptions> serve;
  std::string text;   // Where there is nothing to serve: help, version or what is wrong.
  int exit_code = 0;  // 0 for help and version.
};

// Each flag `--some-thing` may also stand in the environment as JACKDAW_SOME_THING and as
// `some-thing = value` in the file of --config. The command line wins, then the environment.
[[nodiscard]] CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_CONFIG_H_
