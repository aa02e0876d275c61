// Pages of a list: how long they are, and the opaque tokens that lead to the next.
//
// Thread safety: free functions.

#ifndef JACKDAW_SERVER_PAGING_H_
#define JACKDAW_SERVER_PAGING_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

inline constexpr std::int64_t kDefaultPageSize = 100;

// What a client that asked for `page_size` gets. INVALID_ARGUMENT if it is negative.
absl::StatusOr<std::int64_t> PageSize(std::int64_t page_size, std::int64_t max);

// A token that stands for `position` in the list `list`; not for people to read.
[[nodiscard]] std::string MakePageToken(absl::string_view list, std::int64_t position);
// The position; 0 for an empty token. INVALID_ARGUMENT for one that is not from `list`.
absl::StatusOr<std::int64_t> ParsePageToken(absl::string_view list, absl::string_view token);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_PAGING_H_
