#include "client/jobfile/words.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace jackdaw::jobfile {
namespace {

constexpr std::size_t kMaxQuotedBytes = 60;
// Longer words are compared by their beginning: enough for a hint, and cheap.
constexpr std::size_t kMaxComparedBytes = 64;

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// The length of the UTF-8 sequence that `lead` opens; 0 if it opens none.
std::size_t SequenceLength(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Whether a second byte is allowed after `lead`: rules out overlong forms, surrogates and
// what lies beyond U+10FFFF.
bool SecondByteFits(std::uint8_t lead, std::uint8_t second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  if (lead == 0xf4) return second < 0x90;
  return true;
}

}  // namespace

const Words<FailurePolicy>& FailurePolicyWords() {
  static const auto& words = *new Words<FailurePolicy>{{"continue", FailurePolicy::kContinue},
                                                       {"fail_fast", FailurePolicy::kFailFast}};
  return words;
}

const Words<Priority>& PriorityWords() {
  static const auto& words = *new Words<Priority>{
      {"low", Priority::kLow}, {"normal", Priority::kNormal}, {"high", Priority::kHigh}};
  return words;
}

const Words<RunIf>& RunIfWords() {
  static const auto& words = *new Words<RunIf>{{"all_succeeded", RunIf::kAllSucceeded},
                                               {"all_done", RunIf::kAllDone},
                                               {"any_failed", RunIf::kAnyFailed}};
  return words;
}

const Words<Stdin>& StdinWords() {
  static const auto& words = *new Words<Stdin>{
      {"empty", Stdin::kEmpty}, {"payload", Stdin::kPayload}, {"inputs", Stdin::kInputs}};
  return words;
}

const Words<absl::StatusCode>& StatusCodeWords() {
  using Code = absl::StatusCode;
  static const auto& words = *new Words<Code>{{"CANCELLED", Code::kCancelled},
                                              {"UNKNOWN", Code::kUnknown},
                                              {"INVALID_ARGUMENT", Code::kInvalidArgument},
                                              {"DEADLINE_EXCEEDED", Code::kDeadlineExceeded},
                                              {"NOT_FOUND", Code::kNotFound},
                                              {"ALREADY_EXISTS", Code::kAlreadyExists},
                                              {"PERMISSION_DENIED", Code::kPermissionDenied},
                                              {"RESOURCE_EXHAUSTED", Code::kResourceExhausted},
                                              {"FAILED_PRECONDITION", Code::kFailedPrecondition},
                                              {"ABORTED", Code::kAborted},
                                              {"OUT_OF_RANGE", Code::kOutOfRange},
                                              {"UNIMPLEMENTED", Code::kUnimplemented},
                                              {"INTERNAL", Code::kInternal},
                                              {"UNAVAILABLE", Code::kUnavailable},
                                              {"DATA_LOSS", Code::kDataLoss},
                                              {"UNAUTHENTICATED", Code::kUnauthenticated}};
  return words;
}

std::optional<absl::Duration> ParseDuration(absl::string_view text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration)) return std::nullopt;
  if (duration < absl::ZeroDuration() || duration > kMaxDuration) return std::nullopt;
  return duration;
}

std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates) {
  word = word.substr(0, kMaxComparedBytes);
  // A third of the word may be wrong, but no more than three letters.
  std::size_t best_distance = std::min<std::size_t>(3, (word.size() + 2) / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const absl::string_view start = absl::string_view(candidate).substr(0, kMaxComparedBytes);
    const std::size_t longer = std::max(start.size(), word.size());
    if (longer - std::min(start.size(), word.size()) >= best_distance) continue;
    const std::size_t distance = EditDistance(word, start);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : absl::StrCat(", did you mean ", Quoted(nearest), "?");
}

std::string Quoted(absl::string_view text) {
  if (text.size() <= kMaxQuotedBytes) return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
  std::size_t end = kMaxQuotedBytes;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, end)), "...\"");
}

std::optional<std::size_t> FindInvalidUtf8(absl::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = SequenceLength(lead);
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<std::uint8_t>(text[i + k]);
      if ((byte & 0xc0) != 0x80 || (k == 1 && !SecondByteFits(lead, byte))) return i;
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace jackdaw::jobfile
