#include "scheduler/async/combined_error.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

void CombinedError::Add(absl::Status error) {
  if (std::find(kept_.begin(), kept_.end(), error) != kept_.end()) return;
  if (kept_.size() < kMaxKept) {
    kept_.push_back(std::move(error));
  } else {
    ++dropped_;
  }
}

absl::Status CombinedError::ToStatus() const {
  if (kept_.empty()) return absl::OkStatus();
  const absl::Status& primary = kept_.front();
  if (kept_.size() == 1) return primary;
  const auto others = static_cast<std::int64_t>(kept_.size()) - 1;
  std::string message = absl::StrCat(primary.message(), " (and ", others + dropped_, " more: ");
  for (std::size_t i = 1; i < kept_.size(); ++i) {
    absl::StrAppend(&message, i == 1 ? "" : "; ", absl::StatusCodeToString(kept_[i].code()), ": ",
                    kept_[i].message().substr(0, kMaxMessageBytes));
  }
  absl::StrAppend(&message, dropped_ > 0 ? "; ...)" : ")");
  absl::Status combined(primary.code(), message);
  primary.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    combined.SetPayload(type, payload);
  });
  return combined;
}

}  // namespace jackdaw
