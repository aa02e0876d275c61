#include "tests/support/scrape.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

std::string GetMetrics(int port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (connect(connection, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0) {
    constexpr absl::string_view kRequest = "GET /metrics HTTP/1.0\r\n\r\n";
    EXPECT_EQ(send(connection, kRequest.data(), kRequest.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(kRequest.size()));
    char buffer[65536];
    for (ssize_t n = 0; (n = recv(connection, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(n));
    }
  }
  close(connection);
  return answer;
}

std::string Scrape(int port) {
  const std::string answer = GetMetrics(port);
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? "" : answer.substr(head + 4);
}

double SumSeries(const std::string& text, const std::string& prefix) {
  double sum = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, prefix)) continue;
    double value = 0;
    EXPECT_TRUE(absl::SimpleAtod(line.substr(line.rfind(' ') + 1), &value)) << line;
    sum += value;
  }
  return sum;
}

int CountSeries(const std::string& text) {
  int count = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    count += !line.empty() && line.front() != '#' ? 1 : 0;
  }
  return count;
}

}  // namespace jackdaw
