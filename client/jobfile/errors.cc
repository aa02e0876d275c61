#include "client/jobfile/errors.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace jackdaw::jobfile {

void Errors::Add(Place place, absl::string_view field, absl::string_view message) {
  ++found_;
  std::string text = file_name_;
  if (place.line > 0) absl::StrAppend(&text, ":", place.line, ":", std::max(place.column, 1));
  absl::StrAppend(&text, ": ");
  if (!field.empty()) absl::StrAppend(&text, field, ": ");
  absl::StrAppend(&text, message);
  lines_.push_back({place, std::move(text)});
}

absl::Status Errors::ToStatus() const {
  if (empty()) return absl::OkStatus();
  std::vector<Line> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  std::string all;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxReportedErrors); ++i) {
    absl::StrAppend(&all, i == 0 ? "" : "\n", sorted[i].text);
  }
  if (found_ > kMaxReportedErrors) {
    absl::StrAppend(&all, "\n", file_name_, ": and ", found_ - kMaxReportedErrors,
                    " more mistakes");
  }
  return absl::InvalidArgumentError(all);
}

}  // namespace jackdaw::jobfile
