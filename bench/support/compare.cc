#include "bench/support/compare.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace jackdaw::bench {
namespace {

// `text` as a JSON string. Names are ours: they hold no control characters.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

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
  if (const char* path = std::getenv("JACKDAW_BENCH_RECORD")) Record(path);
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

void Compare::Record(const char* path) const {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "a"), std::fclose);
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s: %s\n", path, std::strerror(errno));
    std::exit(1);
  }
  std::fprintf(file.get(), R"({"program": %s, "title": %s, "unit": %s, "contestants": [)",
               Quoted(program_invocation_short_name).c_str(), Quoted(title_).c_str(),
               Quoted(unit_).c_str());
  const char* comma = "";
  for (const Contestant& contestant : contestants_) {
    std::fprintf(file.get(), R"(%s{"name": %s, "figures": [)", comma,
                 Quoted(contestant.name).c_str());
    comma = "";
    for (const double figure : contestant.figures) {
      std::fprintf(file.get(), "%s%.9g", comma, figure);
      comma = ", ";
    }
    std::fprintf(file.get(), "]}");
  }
  std::fprintf(file.get(), "]}\n");
}

}  // namespace jackdaw::bench
