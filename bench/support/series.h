// Series: lines over a common axis, recorded for tools/plot_bench.py to draw.

#ifndef JACKDAW_BENCH_SUPPORT_SERIES_H_
#define JACKDAW_BENCH_SUPPORT_SERIES_H_

#include <string>
#include <utility>
#include <vector>

namespace jackdaw::bench {

class Series {
 public:
  // `unit` is that of the lines, `axis` what they run over, drawn in powers of two.
  Series(std::string title, std::string unit, std::string axis)
      : title_(std::move(title)), unit_(std::move(unit)), axis_(std::move(axis)) {}

  // Starts a line.
  void Begin(std::string name) { lines_.push_back({std::move(name), {}}); }
  // A point of the line that was started last.
  void Add(double x, double y) { lines_.back().points.emplace_back(x, y); }

  void Record() const;

 private:
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;
  };
  const std::string title_;
  const std::string unit_;
  const std::string axis_;
  std::vector<Line> lines_;
};

}  // namespace jackdaw::bench

#endif  // JACKDAW_BENCH_SUPPORT_SERIES_H_
