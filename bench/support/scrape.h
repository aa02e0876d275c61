// One scrape of a server's /metrics, as Prometheus makes it.

#ifndef JACKDAW_BENCH_SUPPORT_SCRAPE_H_
#define JACKDAW_BENCH_SUPPORT_SCRAPE_H_

#include <cstddef>

namespace jackdaw::bench {

struct ScrapeResult {
  double millis = 0;
  int series = 0;
  std::size_t bytes = 0;
};

// Scrapes 127.0.0.1:`port`. Ends the program if nothing answers.
[[nodiscard]] ScrapeResult Scrape(int port);

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SUPPORT_SCRAPE_H_
