// jackdawd: the stock server.

#include <iostream>
#include <utility>

#include "server/config.h"
#include "server/server.h"

int main(int argc, char** argv) {
  jackdaw::CommandLine command_line = jackdaw::ParseCommandLine(argc, argv);
  if (!command_line.serve.has_value()) {
    (command_line.exit_code == 0 ? std::cout : std::cerr) << command_line.text;
    return command_line.exit_code;
  }
  jackdaw::Server server(*std::move(command_line.serve));
  return server.Run();
}
