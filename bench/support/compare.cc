#include "bench/support/compare.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/support/record.h"

namespace jackdaw::bench {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Compare::Add(std::string name, std::function<double()> measure) {
  contestants_.push_back({std::move(name), std::move(measure), {}});
}

double Compare::Median(std::size_t i) const {
  std::vector<double> sorted = contestants_[i].figures;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void Compare::Run(int rounds) {
  for (const Contestant& contestant : contestants_) contestant.measure();
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants_) contestant.figures.push_back(contestant.measure());
  }
  Print(rounds);
  Record();
}

void Compare::Print(int rounds) const {
  std::printf("%s (%s; median of %d, lowest to highest)\n", title_.c_str(), unit_.c_str(), rounds);
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    const auto [low, high] =
        std::minmax_element(contestants_[i].figures.begin(), contestants_[i].figures.end());
    std::printf("  %-44s %10.1f  (%.1f to %.1f)  %6.2fx\n", contestants_[i].name.c_str(), Median(i),
                *low, *high, Median(i) / Median(0));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void Compare::Record() const {
  const auto contestant = [](std::string* out, const Contestant& one) {
    absl::StrAppend(out, "{\"name\": ", Quoted(one.name), ", \"figures\": [",
                    absl::StrJoin(one.figures, ", "), "]}");
  };
  bench::Record(
      title_, unit_,
      absl::StrCat("\"contestants\": [", absl::StrJoin(contestants_, ", ", contestant), "]"));
}

}  // namespace jackdaw::bench
