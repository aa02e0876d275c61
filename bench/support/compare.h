// Compare: measures a subject and its baselines in turns, in one run, and prints a table:
// medians, spread, and each as a ratio to the first. On a shared machine only the ratio of
// what was measured side by side means much.
//
// Where JACKDAW_BENCH_RECORD names a file, each comparison is also appended to it with all its
// figures, one JSON object a line, for tools/plot_bench.py.

#ifndef JACKDAW_BENCH_SUPPORT_COMPARE_H_
#define JACKDAW_BENCH_SUPPORT_COMPARE_H_

#include <functional>
#include <string>
#include <vector>

namespace jackdaw::bench {

class Compare {
 public:
  // `unit` names what a measurement returns, e.g. "ns a node".
  Compare(std::string title, std::string unit) : title_(std::move(title)), unit_(std::move(unit)) {}

  // Adds a contestant: `measure` runs once a round and returns its figure. The first added is
  // the baseline.
  void Add(std::string name, std::function<double()> measure);

  // One round to warm up, then `rounds`, each measuring every contestant once. Prints.
  void Run(int rounds);

  // The median of contestant `i`, after Run().
  [[nodiscard]] double Median(std::size_t i) const;

 private:
  void Print(int rounds) const;
  void Record() const;

  struct Contestant {
    std::string name;
    std::function<double()> measure;
    std::vector<double> figures;
  };

  const std::string title_;
  const std::string unit_;
  std::vector<Contestant> contestants_;
};

// Seconds since an arbitrary start.
[[nodiscard]] double Now();

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SUPPORT_COMPARE_H_
