// Keepalive: clients that ping as often as they may are not sent away, those that ping much
// more often are. Only real time can show it; all clients wait through the same seconds.

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "server/endpoint.h"
#include "tests/server/raw_http2.h"
#include "tests/server/test_server.h"

namespace jackdaw {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);
// gRPC forgives the first ping of a connection and two that come too early.
constexpr int kPings = 4;

RawHttp2::Frame Ping() { return {RawHttp2::kPing, 0, 0, "jackdaw!"}; }

// A stream on a connection of its own.
struct Watcher {
  Watcher(const std::string& address, const std::string& job,
          const grpc::ChannelArguments& arguments)
      : stub(v1::JobService::NewStub(
            grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments))) {
    v1::WatchJobRequest request;
    request.set_name(job);
    reader = stub->WatchJob(&context, request);
    v1::JobEvent event;
    EXPECT_TRUE(reader->Read(&event));
  }

  grpc::Status End() {
    v1::JobEvent event;
    while (reader->Read(&event)) {
    }
    return reader->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<v1::JobService::Stub> stub;
  std::unique_ptr<grpc::ClientReader<v1::JobEvent>> reader;
};

TEST(KeepaliveTest, WhoPingsAsOftenAsAllowedIsNotSentAway) {
  TestServer server;
  v1::Job job;
  AddTask(&job, "a", "gate");
  const std::string name = server.Create(job);
  grpc::ChannelArguments stock;
  stock.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  grpc::ChannelArguments eager = stock;
  const int interval_ms = static_cast<int>(absl::ToInt64Milliseconds(kMinPingInterval));
  eager.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, interval_ms);
  eager.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  eager.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // No limit.
  Watcher calm(server.address(), name, stock);
  Watcher pinging(server.address(), name, eager);

  // This one has no call under way, which gRPC is stricter about. It sends the next ping an
  // interval after the answer to the last, so the server cannot see them closer together.
  RawHttp2 raw(server.address());
  for (int i = 0; i < kPings; ++i) {
    raw.Send(Ping());
    const auto answer = raw.ReadUntil(RawHttp2::kPing, absl::Now() + kPatience);
    ASSERT_TRUE(answer.has_value()) << "ping " << i;
    EXPECT_EQ(answer->payload, Ping().payload);
    if (i + 1 == kPings) break;
    const absl::Time next = absl::Now() + kMinPingInterval + absl::Milliseconds(10);
    EXPECT_FALSE(raw.ReadUntil(RawHttp2::kGoAway, next).has_value()) << "after ping " << i;
  }
  // The connection is as good as before.
  raw.BeginCall(1, "/grpc.health.v1.Health/Check");
  raw.Send({RawHttp2::kData, RawHttp2::kEndStream, 1, std::string(5, '\0')});
  EXPECT_TRUE(raw.ReadUntil(RawHttp2::kData, absl::Now() + kPatience).has_value());

  server.gate().Open();
  EXPECT_TRUE(calm.End().ok());
  const grpc::Status end = pinging.End();
  EXPECT_TRUE(end.ok()) << end.error_message();
}

TEST(KeepaliveTest, WhoPingsWithoutPauseIsSentAway) {
  TestServer server;
  RawHttp2 raw(server.address());
  for (int i = 0; i < 2 * kPings; ++i) raw.Send(Ping());
  const auto end = raw.ReadUntil(RawHttp2::kGoAway, absl::Now() + kPatience);
  ASSERT_TRUE(end.has_value());
  EXPECT_NE(end->payload.find("too_many_pings"), std::string::npos);
}

}  // namespace
}  // namespace jackdaw
