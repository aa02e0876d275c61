// Whether bytes are text.

#ifndef JACKDAW_SERVER_UTF8_H_
#define JACKDAW_SERVER_UTF8_H_

#include "absl/strings/string_view.h"

namespace jackdaw {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool IsUtf8(absl::string_view text);

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_UTF8_H_
