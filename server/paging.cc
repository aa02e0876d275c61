#include "server/paging.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/errors.h"

namespace jackdaw {

absl::StatusOr<std::int64_t> PageSize(std::int64_t page_size, std::int64_t max) {
  if (page_size < 0) {
    return FieldError("page_size", absl::StrCat("must not be negative, was ", page_size));
  }
  return page_size == 0 ? kDefaultPageSize : std::min(page_size, max);
}

std::string MakePageToken(absl::string_view list, std::int64_t position) {
  return absl::WebSafeBase64Escape(absl::StrCat(list, "@", position));
}

absl::StatusOr<std::int64_t> ParsePageToken(absl::string_view list, absl::string_view token) {
  if (token.empty()) return 0;
  std::string text;
  std::int64_t position = 0;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    absl::string_view rest = text;
    if (absl::ConsumePrefix(&rest, list) && absl::ConsumePrefix(&rest, "@") &&
        absl::SimpleAtoi(rest, &position) && position > 0) {
      return position;
    }
  }
  return FieldError("page_token", "is not from an earlier answer to the same request",
                    "INVALID_PAGE_TOKEN");
}

}  // namespace jackdaw
