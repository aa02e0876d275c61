// `jackdaw`: the command line client.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/string_view.h"
#include "client/cli/cli.h"
#include "client/cli/context.h"

namespace {

constexpr int kDefaultWidth = 80;

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool CanRedraw() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 &&
         (terminal == nullptr || absl::string_view(terminal) != "dumb");
}

int TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultWidth;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  jackdaw::cli::Context context;
  context.out = &std::cout;
  context.err = &std::cerr;
  context.err_is_terminal = CanRedraw();
  context.colour = context.err_is_terminal && !IsSet("NO_COLOR");
  context.width = TerminalWidth;
  return jackdaw::cli::RunCli(argc, argv, context);
}
