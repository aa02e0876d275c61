#include "scheduler/exec/safe_text.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The length of the character at the front of `text`, by RFC 3629; 0 if there is none.
std::size_t CharacterBytes(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond_unicode = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

bool IsPlain(absl::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = CharacterBytes(text);
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string SafeText(absl::string_view text, std::size_t max_bytes) {
  const bool cut = text.size() > max_bytes;
  if (cut) {
    std::size_t end = max_bytes;
    while (end > 0 && end + 4 > max_bytes && IsContinuation(text[end])) --end;
    text = text.substr(0, end);
  }
  std::string safe = IsPlain(text) ? std::string(text) : absl::CHexEscape(text);
  if (cut) safe += "...";
  return safe;
}

}  // namespace jackdaw
