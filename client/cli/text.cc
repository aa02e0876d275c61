#include "client/cli/text.h"

#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/jobfile/words.h"

namespace jackdaw::cli {
namespace {

// Three digits: 1.23, 12.3, 123.
std::string ThreeDigits(double value) {
  if (value < 9.995) return absl::StrFormat("%.2f", value);
  if (value < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// U+0080 to U+009F: terminals take some of them for escape sequences.
bool IsLateControl(absl::string_view text, std::size_t i) {
  return text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
}

void AppendEscaped(char c, std::string* out) {
  switch (c) {
    case '\n':
      out->append("\\n");
      return;
    case '\t':
      out->append("\\t");
      return;
    case '\r':
      out->append("\\r");
      return;
    default:
      absl::StrAppend(out, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
  }
}

}  // namespace

std::string ReadableDuration(absl::Duration duration) {
  if (duration < absl::ZeroDuration()) return absl::StrCat("-", ReadableDuration(-duration));
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 0.9995e-3) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < 0.9995) return absl::StrCat(ThreeDigits(seconds * 1e3), " ms");
  if (seconds < 99.95) return absl::StrCat(ThreeDigits(seconds), " s");
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return absl::StrCat(whole / 60, " m ", whole % 60, " s");
  return absl::StrCat(whole / 3600, " h ", whole % 3600 / 60, " m");
}

std::string ReadableBytes(std::int64_t bytes) {
  if (bytes < 1024) return Count(bytes, "byte");
  constexpr std::array<absl::string_view, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Count(std::int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string Printable(absl::string_view text, LineEnds line_ends) {
  std::string out;
  out.reserve(text.size());
  std::size_t valid_until = jobfile::FindInvalidUtf8(text).value_or(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == valid_until) {
      AppendEscaped(text[i], &out);
      const auto next = jobfile::FindInvalidUtf8(text.substr(i + 1));
      valid_until = next.has_value() ? i + 1 + *next : text.size();
    } else if ((text[i] == '\n' || text[i] == '\t') && line_ends == LineEnds::kKeep) {
      out.push_back(text[i]);
    } else if (IsControl(text[i])) {
      AppendEscaped(text[i], &out);
    } else if (IsLateControl(text, i)) {
      AppendEscaped(text[++i], &out);
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::size_t Width(absl::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += IsContinuation(c) ? 0 : 1;
  return width;
}

std::string Clip(absl::string_view text, std::size_t width) {
  if (Width(text) <= width) return std::string(text);
  const absl::string_view mark = width > 3 ? "..." : "";
  std::size_t left = width - mark.size();
  std::size_t end = 0;
  while (end < text.size()) {
    if (!IsContinuation(text[end]) && left-- == 0) break;
    ++end;
  }
  return absl::StrCat(text.substr(0, end), mark);
}

std::string StateName(v1::Job::State state) {
  const std::string name = v1::Job::State_Name(state);
  return name.empty() ? absl::StrCat(static_cast<int>(state))
                      : std::string(absl::StripPrefix(name, "STATE_"));
}

std::string StateName(v1::Task::State state) {
  const std::string name = v1::Task::State_Name(state);
  return name.empty() ? absl::StrCat(static_cast<int>(state))
                      : std::string(absl::StripPrefix(name, "STATE_"));
}

}  // namespace jackdaw::cli
