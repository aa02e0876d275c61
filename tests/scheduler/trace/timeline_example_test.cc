// The example writes a timeline that holds what it did.

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/scheduler/trace/trace_reader.h"

namespace jackdaw {
namespace {

TEST(TimelineExampleTest, WritesWhatItDid) {
  const std::string path = absl::StrCat(testing::TempDir(), "/timeline_example.json");
  ASSERT_EQ(std::system(absl::StrCat(JACKDAW_TIMELINE_EXAMPLE, " ", path).c_str()), 0);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const TraceReader trace(text.str());
  EXPECT_EQ(trace.Count("sort"), 32u);
  EXPECT_EQ(trace.Count("merge"), 31u);
  EXPECT_EQ(trace.dropped(), 0);
}

}  // namespace
}  // namespace jackdaw
