#include "server/metric_families.h"

#include <limits>

namespace jackdaw {

using prometheus::ClientMetric;
using prometheus::MetricType;

void MetricFamilies::Family::Add(Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  if (family_.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family_.metric.push_back(std::move(metric));
}

void MetricFamilies::Family::Add(Labels labels, const ActionStats::Histogram& histogram) {
  ClientMetric metric;
  metric.label = std::move(labels);
  std::uint64_t sum = 0;
  for (int i = 0; i < ActionStats::kBucketCount; ++i) {
    sum += static_cast<std::uint64_t>(histogram.counts[static_cast<std::size_t>(i)]);
    ClientMetric::Bucket bucket;
    bucket.cumulative_count = sum;
    bucket.upper_bound = i + 1 < ActionStats::kBucketCount
                             ? ActionStats::BucketBoundSeconds(i)
                             : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back(bucket);
  }
  metric.histogram.sample_count = sum;
  metric.histogram.sample_sum = histogram.sum_seconds;
  family_.metric.push_back(std::move(metric));
}

MetricFamilies::Family MetricFamilies::Counter(std::string name, std::string help) {
  return Begin(std::move(name), std::move(help), MetricType::Counter);
}
MetricFamilies::Family MetricFamilies::Gauge(std::string name, std::string help) {
  return Begin(std::move(name), std::move(help), MetricType::Gauge);
}
MetricFamilies::Family MetricFamilies::Histogram(std::string name, std::string help) {
  return Begin(std::move(name), std::move(help), MetricType::Histogram);
}

MetricFamilies::Family MetricFamilies::Begin(std::string name, std::string help, MetricType type) {
  prometheus::MetricFamily& family = families_.emplace_back();
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return Family(family);
}

}  // namespace jackdaw
