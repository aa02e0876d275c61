// The example programs in C++ do what they say.

#include <gmock/gmock.h>

#include "tests/integration/cli/cli_process.h"

namespace jackdaw::testing {
namespace {

using ::testing::HasSubstr;

class ExamplesTest : public CliTest {};

TEST_F(ExamplesTest, ClientRunsAGraphOnAServer) {
  const CliResult run = Program({JACKDAW_CLIENT_EXAMPLE, server_->address()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1005 of 1005 tasks succeeded\nsentence: task graphs run\n"));
}

TEST_F(ExamplesTest, SchedulerRunsAGraphByItself) {
  const CliResult run = Program({JACKDAW_SCHEDULER_EXAMPLE});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "(1 + 2) + 2 + 4 = 9\n");
}

}  // namespace
}  // namespace jackdaw::testing
