#include "scheduler/exec/payload.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace jackdaw {

absl::Status BadPayload(absl::string_view function, absl::string_view payload,
                        absl::string_view expected) {
  constexpr std::size_t kMaxQuotedBytes = 80;
  const bool cut = payload.size() > kMaxQuotedBytes;
  return absl::InvalidArgumentError(absl::StrCat(
      "function ", function, ": payload \"", absl::CHexEscape(payload.substr(0, kMaxQuotedBytes)),
      cut ? "...\" (" : "\" (", payload.size(), " bytes): expected ", expected));
}

}  // namespace jackdaw
