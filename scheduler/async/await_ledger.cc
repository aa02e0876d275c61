#include "scheduler/async/await_ledger.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace jackdaw {

void AbortOnUnawaited(absl::string_view report) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(report.size()), report.data());
  std::abort();
}

void AwaitLedger::Add(std::uint64_t child, absl::string_view label) {
  absl::MutexLock lock(&mutex_);
  if (unawaited_.size() >= kMaxListed) {
    ++not_listed_;
    return;
  }
  // Without its name from the limit on: ids are short.
  unawaited_.emplace(child, unawaited_.size() < kMaxNamed ? std::string(label) : std::string());
}

void AwaitLedger::Remove(std::uint64_t child) {
  absl::MutexLock lock(&mutex_);
  unawaited_.erase(child);
}

void AwaitLedger::Report(absl::string_view label) {
  std::string report;
  {
    absl::MutexLock lock(&mutex_);
    if (unawaited_.empty()) return;
    report = absl::StrCat(label, " ended, and nobody awaited ", unawaited_.size(),
                          unawaited_.size() == 1 ? " child:" : " children:");
    std::size_t told = 0;
    for (const auto& [child, name] : unawaited_) {
      if (told == kMaxNamed) {
        absl::StrAppend(&report, " ...");
        break;
      }
      absl::StrAppend(&report, " ", name.empty() ? absl::StrCat("#", child) : name);
      ++told;
    }
    if (not_listed_ > 0) absl::StrAppend(&report, " (", not_listed_, " more were not watched)");
  }
  hook_(report);
}

}  // namespace jackdaw
