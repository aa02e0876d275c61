// What a work-stealing pool does, as a timeline: sorts numbers in parallel, and writes which worker
// ran which part when, what was stolen from whom, and when somebody slept.
//
//   timeline_example timeline.json     then open ui.perfetto.dev and load the file
//
// With an installed Jackdaw: find_package(Jackdaw), then link jackdaw::scheduler.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

#include "scheduler/async/fork_join.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/trace/timeline.h"
#include "scheduler/trace/trace_scope.h"

namespace {

constexpr std::size_t kNumbers = 1'000'000;
constexpr std::size_t kSmall = 50'000;  // What is not worth dividing.

using Place = std::vector<std::uint64_t>::iterator;

void Sort(Place begin, Place end) {
  if (static_cast<std::size_t>(end - begin) <= kSmall) {
    const jackdaw::TraceScope scope("sort");
    std::sort(begin, end);
    return;
  }
  const Place middle = begin + (end - begin) / 2;
  jackdaw::ForkJoin([=] { Sort(begin, middle); }, [=] { Sort(middle, end); }).IgnoreError();
  const jackdaw::TraceScope scope("merge");
  std::inplace_merge(begin, middle, end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: timeline_example FILE\n";
    return 2;
  }
  std::vector<std::uint64_t> numbers(kNumbers);
  jackdaw::Random random(1);
  for (std::uint64_t& number : numbers) number = random.Next();

  jackdaw::Timeline timeline({.name = "sort"});
  {
    jackdaw::WorkStealingPool pool({.name = "sort", .workers = 4, .trace = &timeline});
    if (!pool.Run([&] { Sort(numbers.begin(), numbers.end()); }).ok()) return 1;
  }
  std::ofstream file(argv[1]);
  const absl::Status written = timeline.WriteJson(file);
  if (!written.ok()) {
    std::cerr << argv[1] << ": " << written << "\n";
    return 1;
  }
  std::cout << (std::is_sorted(numbers.begin(), numbers.end()) ? "sorted" : "not sorted") << "\n";
  return 0;
}
