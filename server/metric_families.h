// MetricFamilies: builds what a scrape returns, family by family.
//
// Thread safety: none; one scrape's own.

#ifndef JACKDAW_SERVER_METRIC_FAMILIES_H_
#define JACKDAW_SERVER_METRIC_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/graph/action_stats.h"

namespace jackdaw {

class MetricFamilies {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  class Family {
   public:
    explicit Family(prometheus::MetricFamily& family) : family_(family) {}
    void Add(Labels labels, double value);
    void Add(Labels labels, std::int64_t value) {
      Add(std::move(labels), static_cast<double>(value));
    }
    // Of a histogram.
    void Add(Labels labels, const ActionStats::Histogram& histogram);

   private:
    prometheus::MetricFamily& family_;
  };

  // `help` is a sentence. The result is good until the next family begins.
  Family Counter(std::string name, std::string help);
  Family Gauge(std::string name, std::string help);
  Family Histogram(std::string name, std::string help);

  [[nodiscard]] std::vector<prometheus::MetricFamily> Take() { return std::move(families_); }

 private:
  Family Begin(std::string name, std::string help, prometheus::MetricType type);
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_METRIC_FAMILIES_H_
