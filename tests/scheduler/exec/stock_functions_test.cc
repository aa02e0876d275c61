#include "scheduler/exec/stock_functions.h"

#include <time.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/sleep_action.h"
#include "tests/support/fake_attempt.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Time stands still until the test moves it.
class HandClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch() + absl::Nanoseconds(nanos_); }
  std::int64_t MonotonicNanos() const override { return nanos_; }
  void Advance(absl::Duration span) { nanos_ += absl::ToInt64Nanoseconds(span); }

 private:
  std::int64_t nanos_ = 0;
};

class StockFunctionsTest : public ::testing::Test {
 protected:
  StockFunctionsTest() { EXPECT_TRUE(RegisterStockFunctions(functions_, timers_).ok()); }

  Action& Find(absl::string_view name) { return *functions_.Find(name); }
  Outcome Run(absl::string_view name, std::string payload, std::vector<std::string> inputs = {}) {
    FakeAttempt attempt({.payload = std::move(payload), .inputs = std::move(inputs)});
    return attempt.Run(Find(name));
  }
  void ExpectBadPayload(absl::string_view name, const std::string& payload) {
    const absl::Status status = Run(name, payload).status;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << payload;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("\"", payload, "\"")));
  }

  HandClock clock_;
  TimerQueue timers_{&clock_, TimerQueue::Drive::kManual};
  Functions functions_;
};

TEST_F(StockFunctionsTest, AllAreThere) {
  EXPECT_THAT(functions_.names(),
              ElementsAre("concat", "echo", "fail", "noop", "sha256", "sleep", "spin"));
}

TEST_F(StockFunctionsTest, ASecondRegistrationIsRefused) {
  EXPECT_EQ(RegisterStockFunctions(functions_, timers_).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(StockFunctionsTest, NoopIsInstantAndEmpty) {
  EXPECT_TRUE(Find("noop").instant());
  const Outcome outcome = Run("noop", "ignored", {"ignored"});
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.output.empty());
}

TEST_F(StockFunctionsTest, EchoGivesThePayloadElseTheInputs) {
  EXPECT_EQ(Run("echo", "p", {"a"}).output.view(), "p");
  EXPECT_EQ(Run("echo", "", {"a", "b"}).output.view(), "ab");
  EXPECT_TRUE(Run("echo", "").output.empty());
}

TEST_F(StockFunctionsTest, ConcatJoinsTheInputsInOrderWithOddBytes) {
  const std::string odd("\0\xff", 2);
  EXPECT_EQ(Run("concat", "ignored", {"b", "", odd, "a"}).output.view(), "b" + odd + "a");
}

TEST_F(StockFunctionsTest, ConcatPassesASingleInputOnWithoutACopy) {
  FakeAttempt attempt({.inputs = {"only"}});
  EXPECT_EQ(attempt.Run(Find("concat")).output.view().data(), attempt.input(0).view().data());
}

TEST_F(StockFunctionsTest, ConcatRefusesTooMuch) {
  const std::string half(kMaxJoinedBytes / 2, 'x');
  EXPECT_TRUE(Run("concat", "", {half, half}).status.ok());
  const absl::Status status = Run("concat", "", {half, half, "y"}).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(kMaxJoinedBytes)));
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(kMaxJoinedBytes + 1)));
}

TEST_F(StockFunctionsTest, Sha256DigestsPayloadThenInputs) {
  // The examples of FIPS 180-2, appendix B.1, and the digest of nothing.
  constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(Run("sha256", "abc").output.view(), kAbc);
  EXPECT_EQ(Run("sha256", "a", {"b", "c"}).output.view(), kAbc);
  EXPECT_EQ(Run("sha256", "").output.view(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(StockFunctionsTest, FailFailsAsAsked) {
  EXPECT_EQ(Run("fail", "").status.code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(Run("fail", "NOT_FOUND").status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Run("fail", "UNAVAILABLE: later: maybe\n").status,
            absl::UnavailableError("later: maybe"));
}

TEST_F(StockFunctionsTest, FailRefusesWhatIsNoFailure) {
  for (const char* payload : {"OK", "BOOM", "unavailable", ": x", "5"}) {
    ExpectBadPayload("fail", payload);
  }
}

TEST_F(StockFunctionsTest, SpinUsesTheCpu) {
  const auto cpu_nanos = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
  };
  const auto before = cpu_nanos();
  EXPECT_TRUE(Run("spin", "2000").status.ok());
  EXPECT_GE(cpu_nanos() - before, 2'000'000);
  EXPECT_TRUE(Run("spin", "0").status.ok());
}

TEST_F(StockFunctionsTest, SpinEndsEarlyWhenStopped) {
  FakeAttempt attempt({.payload = absl::StrCat(kMaxSpinMicroseconds)});
  attempt.Stop(absl::CancelledError("enough"));
  EXPECT_EQ(attempt.Run(Find("spin")).status.code(), absl::StatusCode::kCancelled);
}

TEST_F(StockFunctionsTest, SpinRefusesABadPayload) {
  for (const char* payload : {"", "-1", "1.5", "1ms", "3600000001", "99999999999999999999"}) {
    ExpectBadPayload("spin", payload);
  }
}

TEST_F(StockFunctionsTest, ALongPayloadIsCutInTheMessage) {
  const absl::Status status = Run("spin", std::string(1 << 20, 'x')).status;
  EXPECT_LT(status.message().size(), 300u);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1048576 bytes"));
}

TEST_F(StockFunctionsTest, SleepEndsAtItsTimeAndNotBefore) {
  FakeAttempt attempt({.payload = "250ms"});
  attempt.Start(Find("sleep"));
  clock_.Advance(absl::Milliseconds(249));
  timers_.RunDue();
  EXPECT_FALSE(attempt.finished());
  clock_.Advance(absl::Milliseconds(1));
  timers_.RunDue();
  EXPECT_EQ(attempt.finish_count(), 1);
  EXPECT_TRUE(attempt.Wait().status.ok());
}

TEST_F(StockFunctionsTest, SleepEndsEarlyWhenStoppedAndLeavesNoTimer) {
  FakeAttempt attempt({.payload = "3600"});
  attempt.Start(Find("sleep"));
  EXPECT_EQ(timers_.size(), 1);
  attempt.Stop(absl::DeadlineExceededError("late"));
  EXPECT_EQ(attempt.Wait().status, absl::DeadlineExceededError("late"));
  EXPECT_EQ(timers_.size(), 0);
  EXPECT_EQ(attempt.finish_count(), 1);
}

TEST_F(StockFunctionsTest, SleepStoppedInsideDetachEndsOnce) {
  FakeAttempt attempt({.payload = "3600", .stop_in_detach = absl::CancelledError("early")});
  EXPECT_EQ(attempt.Run(Find("sleep")).status, absl::CancelledError("early"));
  EXPECT_EQ(attempt.finish_count(), 1);
  EXPECT_EQ(timers_.size(), 0);
}

TEST_F(StockFunctionsTest, SleepRefusesABadPayload) {
  for (const char* payload : {"", "soon", "-1", "-1s", "nan", "inf", "1e300", "8761h", "5 ms"}) {
    ExpectBadPayload("sleep", payload);
  }
}

TEST(ParseSleepTest, ReadsDurationsAndSeconds) {
  EXPECT_EQ(*ParseSleep("250ms"), absl::Milliseconds(250));
  EXPECT_EQ(*ParseSleep("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseSleep(" 2\n"), absl::Seconds(2));
  EXPECT_EQ(*ParseSleep("1h30m"), absl::Minutes(90));
  EXPECT_EQ(*ParseSleep("0"), absl::ZeroDuration());
}

}  // namespace
}  // namespace jackdaw
