// The small parts that the services are made of: names, pages, addresses, text, errors.

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "jackdaw/v1/job_service.pb.h"
#include "server/errors.h"
#include "server/listener.h"
#include "server/paging.h"
#include "server/resource_names.h"
#include "server/rpc/call.h"
#include "server/rpc/wire.h"
#include "server/utf8.h"

namespace jackdaw {
namespace {

TEST(ResourceNamesTest, IdsFollowTheirRules) {
  EXPECT_TRUE(IsJobId("a"));
  EXPECT_TRUE(IsJobId("nightly-2"));
  for (const char* id : {"", "A", "2a", "-a", "a-", "a_b", "a/b"}) EXPECT_FALSE(IsJobId(id)) << id;
  EXPECT_FALSE(IsJobId(std::string(64, 'a')));
  EXPECT_TRUE(IsTaskId("A.b_c-9"));
  for (const char* id : {"", "12", "a b", "a/b", "\xc3\xa4"}) EXPECT_FALSE(IsTaskId(id)) << id;
  EXPECT_FALSE(IsTaskId(std::string(129, 'a')));
  EXPECT_TRUE(IsToken(""));
  EXPECT_FALSE(IsToken("a\n"));
}

TEST(ResourceNamesTest, NamesAreTakenApart) {
  EXPECT_EQ(*ParseJobName("name", "jobs/a"), "a");
  EXPECT_FALSE(ParseJobName("name", "job/a").ok());
  EXPECT_FALSE(ParseJobName("name", "jobs/a/tasks/b").ok());
  const auto parts = ParseTaskName("name", "jobs/a/tasks/17");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->job_id, "a");
  EXPECT_EQ(parts->task, "17");
  EXPECT_FALSE(ParseTaskName("name", "jobs/a/tasks/").ok());
  EXPECT_FALSE(ParseTaskName("name", "jobs/a").ok());
  EXPECT_FALSE(ParseTaskName("name", "/tasks/b").ok());
}

TEST(PagingTest, ATokenIsGoodOnlyForItsOwnList) {
  const std::string token = MakePageToken("jobs", 42);
  EXPECT_EQ(*ParsePageToken("jobs", token), 42);
  EXPECT_EQ(*ParsePageToken("jobs", ""), 0);
  EXPECT_FALSE(ParsePageToken("tasks", token).ok());
  EXPECT_FALSE(ParsePageToken("jobs", "!!!").ok());
  EXPECT_EQ(*PageSize(0, 1000), kDefaultPageSize);
  EXPECT_EQ(*PageSize(5000, 1000), 1000);
  EXPECT_FALSE(PageSize(-1, 1000).ok());
}

TEST(ListenerTest, AddressesAreChecked) {
  for (const char* good : {"127.0.0.1:0", "0.0.0.0:7433", "[::1]:80", "localhost:1", "unix:/a"}) {
    EXPECT_TRUE(CheckAddress(good).ok()) << good;
  }
  for (const char* bad : {"", "7433", ":80", "::1:80", "host:70000", "host:x", "unix:"}) {
    EXPECT_FALSE(CheckAddress(bad).ok()) << bad;
  }
  EXPECT_FALSE(CheckAddress("unix:" + std::string(200, 'a')).ok());
}

TEST(ListenerTest, OnlyLoopbackAndUnixSocketsAreLocal) {
  for (const char* local : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:/a"}) {
    EXPECT_TRUE(IsLocalAddress(local)) << local;
  }
  for (const char* other : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1"}) {
    EXPECT_FALSE(IsLocalAddress(other)) << other;
  }
}

TEST(CallTest, OnlyPeersOnThisMachineAreLocal) {
  for (const char* local : {"unix:", "unix:/a", "ipv4:127.0.0.1:99", "ipv6:[::1]:9",
                            "ipv6:%5B::1%5D:9", "ipv6:[::ffff:127.0.0.1]:9"}) {
    EXPECT_TRUE(IsLocalPeer(local)) << local;
  }
  for (const char* other : {"", "ipv4:10.0.0.1:99", "ipv4:128.0.0.1:9", "ipv6:[::2]:9",
                            "ipv6:%5B::11%5D:9", "ipv6:[::ffff:10.0.0.1]:9"}) {
    EXPECT_FALSE(IsLocalPeer(other)) << other;
  }
}

TEST(Utf8Test, OnlyWellFormedSequencesAreText) {
  for (const char* good :
       {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\xa6", "\xef\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\xff"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(WireTest, TheFieldThatDoesNotParseIsNamed) {
  v1::CreateJobRequest request;
  v1::Job& job = *request.mutable_job();
  for (int i = 0; i < 3; ++i) job.add_tasks()->add_after("ok");
  job.mutable_tasks(2)->add_after("BAD!");
  std::string bytes = request.SerializeAsString();
  bytes.replace(bytes.find("BAD!"), 4, "\xff\xff\xff\xff");
  const auto& type = *v1::CreateJobRequest::descriptor();
  EXPECT_EQ(FindParseFault(type, bytes).field, "job.tasks[2].after[1]");
  EXPECT_EQ(FindParseFault(type, bytes.substr(0, 20)).field, "job");
  EXPECT_EQ(FindParseFault(type, std::string(1, '\0')).field, "");
}

TEST(WireTest, NestingWithoutEndIsAFaultNotACrash) {
  // An ExplainTaskResponse holds no message of its own kind, but unknown groups nest freely.
  const std::string groups(100'000, '\x0b');
  EXPECT_FALSE(FindParseFault(*v1::CreateJobRequest::descriptor(), groups).description.empty());
}

TEST(WireTest, MapsInAnyOrderSerialiseAlike) {
  v1::Job forwards;
  v1::Job backwards;
  for (int i = 0; i < 40; ++i) (*forwards.mutable_labels())[std::to_string(i)] = "x";
  for (int i = 39; i >= 0; --i) (*backwards.mutable_labels())[std::to_string(i)] = "x";
  EXPECT_EQ(SerializeDeterministically(forwards), SerializeDeterministically(backwards));
}

google::rpc::Status Details(const absl::Status& status) {
  google::rpc::Status proto;
  proto.ParseFromString(ToGrpc(status).error_details());
  return proto;
}

TEST(ErrorsTest, EveryErrorHasExactlyOneErrorInfo) {
  for (const absl::Status& status :
       {absl::InternalError("bare"), FieldError("a.b", "is wrong"), NotFound("jobs/x", "NO_JOB"),
        PreconditionError("jobs/x", "is open", "OPEN"),
        WithRetryDelay(MakeError(absl::StatusCode::kUnavailable, "later", "BUSY"),
                       absl::Seconds(3))}) {
    int infos = 0;
    google::rpc::ErrorInfo info;
    const google::rpc::Status proto = Details(status);
    for (const auto& detail : proto.details()) infos += detail.UnpackTo(&info) ? 1 : 0;
    EXPECT_EQ(infos, 1) << status;
    EXPECT_EQ(info.domain(), kErrorDomain);
  }
}

TEST(ErrorsTest, ALongMessageIsCutBetweenCharacters) {
  std::string text(4095, 'a');
  text += "\xe2\x82\xac and more";
  const std::string message = ToGrpc(absl::UnknownError(text)).error_message();
  EXPECT_TRUE(IsUtf8(message));
  EXPECT_LE(message.size(), 4100u);
}

}  // namespace
}  // namespace jackdaw
