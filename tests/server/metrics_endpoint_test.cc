#include "server/metrics_endpoint.h"

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "tests/support/scrape.h"

namespace jackdaw {
namespace {

int PortOf(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
  return port;
}

TEST(MetricsEndpointTest, AnswersUntilItIsStoppedAndCanStartAgain) {
  MetricsEndpoint endpoint;
  endpoint.Stop();
  EXPECT_FALSE(endpoint.started());
  const auto empty = std::make_shared<prometheus::Registry>();
  std::string address = "127.0.0.1:0";
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(endpoint.Start(address).ok());
    ASSERT_TRUE(endpoint.started());
    address = endpoint.bound();
    endpoint.Serve(empty);
    EXPECT_TRUE(absl::StartsWith(GetMetrics(PortOf(address)), "HTTP/1.1 200")) << i;
    endpoint.Stop();
    EXPECT_FALSE(endpoint.started());
    EXPECT_EQ(GetMetrics(PortOf(address)), "") << i;
    endpoint.Stop();
  }
}

TEST(MetricsEndpointTest, StopsWhereverItListens) {
  for (const char* address : {"0.0.0.0:0", "localhost:0", "[::1]:0", "[::]:0"}) {
    MetricsEndpoint endpoint;
    // A machine may be without IPv6, and civetweb knows no names.
    if (!endpoint.Start(address).ok()) continue;
    EXPECT_GT(PortOf(endpoint.bound()), 0) << address;
    endpoint.Stop();
  }
}

TEST(MetricsEndpointTest, APortThatIsInUseIsRefused) {
  MetricsEndpoint first;
  ASSERT_TRUE(first.Start("127.0.0.1:0").ok());
  MetricsEndpoint second;
  EXPECT_EQ(second.Start(first.bound()).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.bound(), "");
}

}  // namespace
}  // namespace jackdaw
