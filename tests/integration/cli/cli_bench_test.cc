// `jackdaw bench`: that it measures what it says, not how fast.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/integration/cli/cli_process.h"

namespace jackdaw::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliBenchTest : public CliTest {};

TEST_F(CliBenchTest, EveryShapeRunsAndPrintsOneObject) {
  for (const char* shape : {"layered", "chain", "wide", "tree", "wavefront", "random"}) {
    const CliResult bench =
        Cli({"bench", "--tasks", "1000", "--shape", shape, "--latency-calls", "5", "--json"});
    ASSERT_EQ(bench.code, 0) << shape << bench.err;
    const auto json = Json(bench.out);
    std::set<std::string> names;
    for (const auto& [name, value] : json.fields()) {
      names.insert(name);
      EXPECT_GT(value.number_value(), 0) << name;
    }
    EXPECT_THAT(names, ElementsAre("latency_p50_us", "latency_p99_us", "seconds", "tasks",
                                   "tasks_per_second"));
    EXPECT_EQ(json.fields().at("tasks").number_value(), 1000);
  }
}

TEST_F(CliBenchTest, TasksAreSplitAmongClients) {
  const CliResult bench = Cli({"bench", "--tasks", "1001", "--shape", "wide", "--clients", "3",
                               "--latency-calls", "1", "--json"});
  ASSERT_EQ(bench.code, 0) << bench.err;
  const auto list = Json(Cli({"list", "--json", "--limit", "0"}).out);
  double largest = 0;
  for (const auto& job : list.fields().at("jobs").list_value().values()) {
    const auto& counts = job.struct_value().fields().at("task_counts").struct_value();
    largest = std::max(largest, counts.fields().at("total").number_value());
  }
  EXPECT_EQ(largest, 334);
}

TEST_F(CliBenchTest, TooManyTasksForOneMessageAreRefusedWithBothSizes) {
  const CliResult bench = Cli({"bench", "--tasks", "20000000", "--shape", "chain"});
  EXPECT_EQ(bench.code, 2);
  EXPECT_THAT(bench.out, IsEmpty());
  EXPECT_THAT(bench.err, HasSubstr("but this server takes at most"));
}

TEST_F(CliBenchTest, UnknownFunctionIsTheServersRefusal) {
  const CliResult bench = Cli({"bench", "--tasks", "10", "--function", "no-such"});
  EXPECT_EQ(bench.code, 4);
  EXPECT_THAT(bench.err, HasSubstr("no-such"));
}

}  // namespace
}  // namespace jackdaw::testing
