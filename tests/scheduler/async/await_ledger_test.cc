// The list of children whom nobody awaited, by itself; fiber_test.cc has it in use.

#include "scheduler/async/await_ledger.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AwaitLedgerTest : public ::testing::Test {
 protected:
  std::vector<std::string> reports_;
  AwaitLedger ledger_{[this](absl::string_view report) { reports_.emplace_back(report); }};
};

TEST_F(AwaitLedgerTest, SaysNothingWhereAllWereAwaited) {
  ledger_.Add(1, "#1");
  ledger_.Remove(1);
  ledger_.Remove(1);
  ledger_.Report("#0");
  EXPECT_THAT(reports_, ElementsAre());
}

TEST_F(AwaitLedgerTest, NamesThoseWhoWereNot) {
  ledger_.Add(1, "#1 \"a\"");
  ledger_.Add(2, "#2");
  ledger_.Add(3, "#3 \"c\"");
  ledger_.Remove(2);
  ledger_.Report("#0 \"main\"");
  EXPECT_THAT(reports_,
              ElementsAre("#0 \"main\" ended, and nobody awaited 2 children: #1 \"a\" #3 \"c\""));
}

TEST_F(AwaitLedgerTest, CountsThoseBeyondItsLimits) {
  for (std::uint64_t child = 1; child <= AwaitLedger::kMaxListed + 5; ++child) {
    ledger_.Add(child, "#");
  }
  ledger_.Report("#0");
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_THAT(reports_[0], HasSubstr(std::to_string(AwaitLedger::kMaxListed) + " children: # #"));
  EXPECT_THAT(reports_[0], HasSubstr(" ... (5 more were not watched)"));
  EXPECT_LT(reports_[0].size(), 1000u);
}

}  // namespace
}  // namespace jackdaw
