// Several errors as one: which is the primary one, and how much of the others is told.

#include "scheduler/async/combined_error.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace jackdaw {
namespace {

TEST(CombinedErrorTest, OfNoneIsOk) {
  const CombinedError none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.ToStatus(), absl::OkStatus());
}

TEST(CombinedErrorTest, OneAloneIsAsItCame) {
  absl::Status error = absl::NotFoundError("no page");
  error.SetPayload("type", absl::Cord("payload"));
  CombinedError errors;
  errors.Add(error);
  EXPECT_FALSE(errors.empty());
  EXPECT_EQ(errors.ToStatus(), error);
}

TEST(CombinedErrorTest, TheFirstGivesCodeAndPayloads) {
  absl::Status first = absl::NotFoundError("no page");
  first.SetPayload("type", absl::Cord("payload"));
  CombinedError errors;
  errors.Add(first);
  errors.Add(absl::UnknownError("thrown"));
  errors.Add(absl::AbortedError("gone"));
  const absl::Status all = errors.ToStatus();
  EXPECT_EQ(all.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(all.message(), "no page (and 2 more: UNKNOWN: thrown; ABORTED: gone)");
  EXPECT_EQ(all.GetPayload("type"), absl::Cord("payload"));
}

// A parent returns what its child failed with: that is one failure.
TEST(CombinedErrorTest, EqualErrorsCountOnce) {
  CombinedError errors;
  errors.Add(absl::NotFoundError("no page"));
  errors.Add(absl::NotFoundError("no page"));
  EXPECT_EQ(errors.ToStatus(), absl::NotFoundError("no page"));
}

TEST(CombinedErrorTest, ManyAreCountedAndLongOnesAreCut) {
  CombinedError errors;
  errors.Add(absl::NotFoundError("first"));
  const std::string longest(2 * CombinedError::kMaxMessageBytes, 'x');
  errors.Add(absl::UnknownError(longest));
  for (std::size_t i = 0; i < 2 * CombinedError::kMaxKept; ++i) {
    errors.Add(absl::UnknownError(absl::StrCat("disk ", i)));
  }
  const std::string message(errors.ToStatus().message());
  EXPECT_EQ(message.find("first (and 17 more: UNKNOWN: xxx"), 0u) << message;
  EXPECT_EQ(message.substr(message.size() - 6), "; ...)");
  EXPECT_EQ(message.find(std::string(CombinedError::kMaxMessageBytes + 1, 'x')), std::string::npos);
  EXPECT_EQ(message.find("disk 6"), std::string::npos) << "kept more than it says";
}

}  // namespace
}  // namespace jackdaw
