#include "bench/support/scrape.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "bench/support/compare.h"

namespace jackdaw::bench {
namespace {

std::string Fetch(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET /metrics HTTP/1.0\r\n\r\n";
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char buffer[65536];
    ssize_t size = 0;
    while ((size = read(fd, buffer, sizeof(buffer))) > 0) {
      answer.append(buffer, static_cast<std::size_t>(size));
    }
  }
  close(fd);
  return answer;
}

}  // namespace

ScrapeResult Scrape(int port) {
  ScrapeResult result;
  const double start = Now();
  const std::string answer = Fetch(port);
  result.millis = 1e3 * (Now() - start);
  const std::size_t body = answer.find("\r\n\r\n");
  if (answer.find(" 200 ") == std::string::npos || body == std::string::npos) {
    std::fprintf(stderr, "no answer from /metrics on port %d\n", port);
    std::exit(1);
  }
  result.bytes = answer.size() - body - 4;
  std::istringstream lines(answer.substr(body + 4));
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.empty() && line.front() != '#') ++result.series;
  }
  return result;
}

}  // namespace jackdaw::bench
