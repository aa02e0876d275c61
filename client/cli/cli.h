// The command line of `jackdaw`, as a function.

#ifndef JACKDAW_CLIENT_CLI_CLI_H_
#define JACKDAW_CLIENT_CLI_CLI_H_

#include "client/cli/context.h"

namespace jackdaw::cli {

// Does what the command line says and returns the exit code (exit_code.h).
int RunCli(int argc, const char* const* argv, Context& context);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_CLI_H_
