// `jackdaw run` on a terminal: one block that is drawn again and again, and then is gone.

#include <gmock/gmock.h>

#include <cctype>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/integration/cli/cli_process.h"

namespace jackdaw::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class CliTerminalTest : public CliTest {};

// Columns of a line without its escape sequences; all characters here are ASCII.
std::size_t Columns(absl::string_view line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]))) ++i;
    } else if (line[i] != '\r') {
      ++columns;
    }
  }
  return columns;
}

TEST_F(CliTerminalTest, ProgressIsRedrawnWithinTheWindowAndErased) {
  const std::string path = WriteFile("some.yaml", R"(
name: some
tasks:
  - {id: nap-with-a-rather-long-name, command: [sleep, "0.5"]}
  - {id: another-nap-with-a-long-name, command: [sleep, "0.5"]}
  - {id: end, function: echo, payload: done, after: [nap-with-a-rather-long-name]}
)");
  const auto run = StartCli({"run", path}, CliProcess::Stderr::kTerminal);
  EXPECT_EQ(run->Wait(), 0);
  const std::string screen = run->err();
  EXPECT_THAT(screen, HasSubstr("\x1b[1A\x1b[2K")) << "drawn again";
  EXPECT_THAT(screen, HasSubstr("RUNNING  some"));
  EXPECT_THAT(screen, HasSubstr("running: nap-with-a-rather-long-name"));
  for (const absl::string_view line : absl::StrSplit(screen, '\n')) {
    EXPECT_LT(Columns(line), 60u) << line;
  }
  // The last thing that happens is that the block goes.
  EXPECT_THAT(screen, EndsWith("\x1b[1A\x1b[2K\r"));
  EXPECT_THAT(run->out(), HasSubstr("== end (4 bytes)\ndone\n"));
  EXPECT_THAT(run->out(), Not(HasSubstr("\x1b")));
}

TEST_F(CliTerminalTest, EscapeSequencesOfATaskDoNotReachTheTerminal) {
  const std::string path =
      WriteFile("evil.yaml", "tasks: [{id: a, function: echo, payload: \"\\e[2Jgone\\n\"}]");
  const auto run = StartCli({"run", path}, CliProcess::Stderr::kTerminal);
  EXPECT_EQ(run->Wait(), 0);
  EXPECT_THAT(run->out(), HasSubstr("\\x1b[2Jgone\n"));
}

}  // namespace
}  // namespace jackdaw::testing
