#include "scheduler/exec/functions.h"

#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_attempt.h"

namespace jackdaw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Bytes> Nothing(Attempt&) { return Bytes(); }

TEST(FunctionsTest, ARegisteredFunctionRunsWithPayloadAndInputs) {
  Functions functions;
  ASSERT_TRUE(functions
                  .Register("join",
                            [](Attempt& attempt) -> absl::StatusOr<Bytes> {
                              return Bytes(std::string(attempt.payload().view()) +
                                           std::string(attempt.input(1).view()));
                            })
                  .ok());
  FakeAttempt attempt({.payload = "p", .inputs = {"0", "1"}});
  const Outcome outcome = attempt.Run(*functions.Find("join"));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.output.view(), "p1");
}

TEST(FunctionsTest, AnErrorIsPassedOnAsItIs) {
  Functions functions;
  ASSERT_TRUE(functions
                  .Register("full",
                            [](Attempt&) -> absl::StatusOr<Bytes> {
                              return absl::ResourceExhaustedError("full up");
                            })
                  .ok());
  FakeAttempt attempt;
  EXPECT_EQ(attempt.Run(*functions.Find("full")).status, absl::ResourceExhaustedError("full up"));
}

TEST(FunctionsTest, AnExceptionBecomesUnknownWithItsText) {
  Functions functions;
  ASSERT_TRUE(functions
                  .Register("bad",
                            [](Attempt&) -> absl::StatusOr<Bytes> {
                              throw std::runtime_error("out of cheese");
                            })
                  .ok());
  ASSERT_TRUE(functions.Register("odd", [](Attempt&) -> absl::StatusOr<Bytes> { throw 7; }).ok());
  FakeAttempt bad;
  const absl::Status status = bad.Run(*functions.Find("bad")).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(status.message()), HasSubstr("function bad threw: out of cheese"));
  FakeAttempt odd;
  EXPECT_EQ(odd.Run(*functions.Find("odd")).status.code(), absl::StatusCode::kUnknown);
}

TEST(FunctionsTest, AnUnknownNameIsNull) {
  const Functions functions;
  EXPECT_EQ(functions.Find("nobody"), nullptr);
}

TEST(FunctionsTest, NamesAndActionsAreSorted) {
  Functions functions;
  for (const char* name : {"b", "a/c", "a"}) ASSERT_TRUE(functions.Register(name, &Nothing).ok());
  EXPECT_THAT(functions.names(), ElementsAre("a", "a/c", "b"));
  ASSERT_EQ(functions.actions().size(), 3u);
  EXPECT_EQ(functions.actions()[1]->stats()->metric_name(), "a/c");
  EXPECT_EQ(functions.actions()[1]->kind(), "function");
}

TEST(FunctionsTest, ATakenNameIsRefusedAndKeepsItsFunction) {
  Functions functions;
  ASSERT_TRUE(functions.Register("one", &Nothing).ok());
  const auto before = functions.Find("one");
  EXPECT_EQ(functions.Register("one", &Nothing).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(functions.Find("one"), before);
}

TEST(FunctionsTest, ABadNameIsRefused) {
  Functions functions;
  const std::string longest(Functions::kMaxNameBytes, 'x');
  EXPECT_TRUE(functions.Register(longest, &Nothing).ok());
  for (const std::string& name :
       {std::string(), longest + "x", std::string("a b"), std::string("\xff"), std::string(1, 0)}) {
    EXPECT_EQ(functions.Register(name, &Nothing).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(std::string(functions.Register("a\n", &Nothing).message()), HasSubstr("\"a\\n\""));
}

TEST(FunctionsTest, AnEmptyBodyIsRefused) {
  Functions functions;
  EXPECT_EQ(functions.Register("f", Functions::Function()).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(functions.Register("f", std::shared_ptr<Action>()).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace jackdaw
