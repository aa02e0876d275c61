// Reads /metrics and what it says.

#ifndef JACKDAW_TESTS_SUPPORT_SCRAPE_H_
#define JACKDAW_TESTS_SUPPORT_SCRAPE_H_

#include <string>

namespace jackdaw {

// What GET /metrics answers at a TCP port of 127.0.0.1, its head included. Empty if nobody
// listens there.
[[nodiscard]] std::string GetMetrics(int port);
// The same without its head.
[[nodiscard]] std::string Scrape(int port);

// Sum of the values of all series of `text` whose line begins with `prefix`.
[[nodiscard]] double SumSeries(const std::string& text, const std::string& prefix);
// How many series `text` has.
[[nodiscard]] int CountSeries(const std::string& text);

}  // namespace jackdaw

#endif  // JACKDAW_TESTS_SUPPORT_SCRAPE_H_
