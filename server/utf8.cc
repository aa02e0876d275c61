#include "server/utf8.h"

#include <cstddef>
#include <cstdint>

namespace jackdaw {

// Source: table 3-7 of the Unicode Standard, well-formed byte sequences.
bool IsUtf8(absl::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const std::uint8_t lead = byte(i++);
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    // The byte after the lead has a narrower range for some leads.
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xbf;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    for (int k = 0; k < more; ++k, ++i) {
      if (i >= text.size() || byte(i) < low || byte(i) > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

}  // namespace jackdaw
