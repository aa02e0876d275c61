#include "client/cpp/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/address.h"
#include "client/cpp/retry.h"
#include "google/rpc/error_details.pb.h"

namespace jackdaw::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

grpc::Status ServerError() {
  google::rpc::Status details;
  details.set_code(3);
  details.set_message("the job is wrong");
  google::rpc::ErrorInfo info;
  info.set_reason("TASK_NOT_FOUND");
  info.set_domain("jackdaw.dev");
  details.add_details()->PackFrom(info);
  google::rpc::BadRequest bad;
  auto* violation = bad.add_field_violations();
  violation->set_field("job.tasks[3].after[0]");
  violation->set_description("there is no task x");
  details.add_details()->PackFrom(bad);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(7);
  details.add_details()->PackFrom(retry);
  return {grpc::StatusCode::INVALID_ARGUMENT, details.message(), details.SerializeAsString()};
}

TEST(ErrorsTest, FieldAndReasonOfTheServerAreInTheMessage) {
  const absl::Status status = FromGrpc(ServerError(), "host:1");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "the job is wrong\n  job.tasks[3].after[0]: there is no task x [TASK_NOT_FOUND]");
  EXPECT_EQ(ErrorReason(status), "TASK_NOT_FOUND");
  EXPECT_THAT(ErrorFields(status), ElementsAre("job.tasks[3].after[0]"));
  EXPECT_EQ(RetryDelay(status), absl::Seconds(7));
  EXPECT_FALSE(IsNotGrpc(status));
}

TEST(ErrorsTest, StatusWithoutDetailsIsTakenAsItIs) {
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::NOT_FOUND, "no job"), "host:1");
  EXPECT_EQ(status, absl::NotFoundError("no job"));
  EXPECT_EQ(ErrorReason(status), "");
  EXPECT_THAT(ErrorFields(status), IsEmpty());
  EXPECT_EQ(RetryDelay(status), std::nullopt);
}

TEST(ErrorsTest, GarbledDetailsDoNotHideTheMessage) {
  const absl::Status status = FromGrpc(
      grpc::Status(grpc::StatusCode::NOT_FOUND, "no job", "\xff\xff not a message"), "host:1");
  EXPECT_EQ(status.message(), "no job");
}

TEST(RetryScheduleTest, TakesTheLongerOfItsOwnWaitAndTheServers) {
  RetryOptions options;
  options.jitter = 0;
  RetrySchedule schedule(options, 1);
  EXPECT_EQ(schedule.Next(absl::UnavailableError(""), absl::Hours(1)), options.initial_backoff);
  grpc::Status error = ServerError();
  const absl::Status asks =
      FromGrpc({grpc::StatusCode::UNAVAILABLE, "", error.error_details()}, "host:1");
  EXPECT_EQ(schedule.Next(asks, absl::Hours(1)), absl::Seconds(7));
}

TEST(RetryScheduleTest, EndsWithAttemptsErrorOrDeadline) {
  RetryOptions options;
  options.attempts = 2;
  RetrySchedule schedule(options, 1);
  EXPECT_EQ(schedule.Next(absl::InternalError(""), absl::Hours(1)), std::nullopt);
  EXPECT_NE(schedule.Next(absl::UnavailableError(""), absl::Hours(1)), std::nullopt);
  EXPECT_EQ(schedule.Next(absl::UnavailableError(""), absl::Hours(1)), std::nullopt);
  schedule.Reset();
  EXPECT_EQ(schedule.Next(absl::UnavailableError(""), absl::Milliseconds(1)), std::nullopt);
}

TEST(AddressTest, HostAndPortOrSocket) {
  EXPECT_EQ(ParseAddress("127.0.0.1:7433").value(), "127.0.0.1:7433");
  EXPECT_EQ(ParseAddress("jackdaw.default.svc:80").value(), "jackdaw.default.svc:80");
  EXPECT_EQ(ParseAddress("[::1]:7433").value(), "[::1]:7433");
  EXPECT_EQ(ParseAddress("unix:/run/jackdaw.sock").value(), "unix:/run/jackdaw.sock");
  EXPECT_EQ(ParseAddress("unix:relative.sock").value(), "unix:relative.sock");
  EXPECT_EQ(ParseAddress("unix:///run/jackdaw.sock").value(), "unix:/run/jackdaw.sock");
}

TEST(AddressTest, AnythingElseIsRefusedWithTheReason) {
  const auto why = [](absl::string_view address) {
    const auto parsed = ParseAddress(address);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << address;
    return std::string(parsed.status().message());
  };
  EXPECT_THAT(why(""), HasSubstr("found no port"));
  EXPECT_THAT(why("localhost"), HasSubstr("found no port"));
  EXPECT_THAT(why(":7433"), HasSubstr("found no host"));
  EXPECT_THAT(why("::1:7433"), HasSubstr("without brackets"));
  EXPECT_THAT(why("host:http"), HasSubstr("found the port \"http\""));
  EXPECT_THAT(why("host:65536"), HasSubstr("found the port \"65536\""));
  EXPECT_THAT(why("http://host:80"), HasSubstr("found a URL"));
  EXPECT_THAT(why("unix:"), HasSubstr("found no path"));
  EXPECT_THAT(why("unix:/" + std::string(107, 'x')), HasSubstr("found a path of 108 bytes"));
}

}  // namespace
}  // namespace jackdaw::client
