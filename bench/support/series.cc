#include "bench/support/series.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/support/record.h"

namespace jackdaw::bench {

void Series::Record() const {
  const auto point = [](std::string* out, const std::pair<double, double>& at) {
    absl::StrAppend(out, "[", at.first, ", ", at.second, "]");
  };
  const auto line = [&point](std::string* out, const Line& one) {
    absl::StrAppend(out, "{\"name\": ", Quoted(one.name), ", \"points\": [",
                    absl::StrJoin(one.points, ", ", point), "]}");
  };
  bench::Record(title_, unit_,
                absl::StrCat("\"axis\": ", Quoted(axis_), ", \"lines\": [",
                             absl::StrJoin(lines_, ", ", line), "]"));
}

}  // namespace jackdaw::bench
