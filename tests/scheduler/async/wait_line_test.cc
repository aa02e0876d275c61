// WaitLine by itself: order, tickets, the limit, and who has left.

#include "scheduler/async/wait_line.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace jackdaw {
namespace {

using Line = WaitLine<int, std::string>;

struct Owner {
  void Cancel(Line::Ticket ticket) { cancelled.push_back(ticket); }
  std::vector<Line::Ticket> cancelled;
};

class WaitLineTest : public ::testing::Test {
 protected:
  Future<int> Add(std::string need) { return line_.Add(need, owner_, &Owner::Cancel, swept_); }

  std::shared_ptr<Owner> owner_ = std::make_shared<Owner>();
  Line line_{3};
  std::vector<Line::Waiting> swept_;
};

TEST_F(WaitLineTest, ServesInTheOrderOfArrival) {
  const Future<int> a = Add("a");
  const Future<int> b = Add("b");
  EXPECT_EQ(line_.size(), 2u);
  EXPECT_EQ(line_.first().need, "a");
  EXPECT_EQ(line_.TakeFirst().need, "a");
  EXPECT_EQ(line_.TakeFirst().need, "b");
  EXPECT_TRUE(line_.empty());
}

TEST_F(WaitLineTest, BeyondItsLimitRefusesAndLeavesWhatWasBrought) {
  const std::vector<Future<int>> waiting = {Add("a"), Add("b"), Add("c")};
  std::string need = "kept";
  const Future<int> refused = line_.Add(need, owner_, &Owner::Cancel, swept_);
  EXPECT_EQ(refused.PeekOrError().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(need, "kept");
  EXPECT_EQ(line_.size(), 3u);
}

TEST_F(WaitLineTest, ARequestToCancelNamesTheTicket) {
  const Future<int> a = Add("a");
  const Line::Ticket ticket = line_.next_ticket();
  const Future<int> b = Add("b");
  b.RequestCancel();
  EXPECT_EQ(owner_->cancelled, std::vector<Line::Ticket>({ticket}));
  std::optional<Line::Waiting> taken = line_.Take(ticket);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->need, "b");
  EXPECT_FALSE(line_.Take(ticket).has_value());
  EXPECT_EQ(line_.TakeFirst().need, "a");
}

TEST_F(WaitLineTest, AnOwnerThatIsGoneIsNotCalled) {
  const Future<int> a = Add("a");
  owner_.reset();
  a.RequestCancel();
  EXPECT_FALSE(a.is_ready());
}

TEST_F(WaitLineTest, PassesThoseByWhoseFuturesAreGone) {
  Future<int> dropped = Add("dropped");
  const Future<int> held = Add("held");
  dropped = Future<int>();
  std::vector<Line::Waiting> unwanted;
  const std::optional<Line::Waiting> first = line_.TakeFirstWanted(unwanted);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->need, "held");
  ASSERT_EQ(unwanted.size(), 1u);
  EXPECT_EQ(unwanted.front().need, "dropped");
  EXPECT_FALSE(line_.TakeFirstWanted(unwanted).has_value());
}

// A line that nobody comes out of must not fill up with those who gave up.
TEST_F(WaitLineTest, IsSweptOfThoseWhoseFuturesAreGoneWhenItHasDoubled) {
  Line line;
  std::vector<Future<int>> held;
  for (std::size_t i = 0; i < 100 * kFirstSweep; ++i) {
    std::string need = i % 100 == 0 ? "held" : "dropped";
    Future<int> future = line.Add(need, owner_, &Owner::Cancel, swept_);
    if (i % 100 == 0) held.push_back(std::move(future));
    EXPECT_LE(line.size(), 2 * held.size() + kFirstSweep);
  }
  EXPECT_GE(line.size(), held.size());
  for (const Line::Waiting& one : swept_) EXPECT_EQ(one.need, "dropped");
  for (const Future<int>& future : held) EXPECT_FALSE(future.is_ready());
}

TEST_F(WaitLineTest, ThatDiesBreaksItsPromises) {
  Future<int> future;
  {
    Line line;
    std::string need;
    future = line.Add(need, owner_, &Owner::Cancel, swept_);
  }
  EXPECT_TRUE(absl::IsAborted(future.PeekOrError().status()));
}

}  // namespace
}  // namespace jackdaw
