#include "scheduler/exec/program_stats.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace jackdaw {
namespace {

bool IsLabel(absl::string_view name) {
  return !name.empty() && name.size() <= ProgramStats::kMaxNameBytes &&
         name != ProgramStats::kOther && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

}  // namespace

ProgramStats::ProgramStats() : other_(std::make_shared<ActionStats>(kOther)) {}

std::shared_ptr<ActionStats> ProgramStats::Of(absl::string_view name,
                                              const std::function<bool()>& exists) {
  if (!IsLabel(name)) return other_;
  const std::string key(name);
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    if (programs_.size() >= kMaxPrograms) return other_;
  }
  if (!exists()) return other_;
  absl::MutexLock lock(&mutex_);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  if (programs_.size() >= kMaxPrograms) return other_;
  return programs_.emplace(key, std::make_shared<ActionStats>(key)).first->second;
}

std::vector<std::shared_ptr<ActionStats>> ProgramStats::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<ActionStats>> all;
  for (const auto& [name, stats] : programs_) all.push_back(stats);
  all.push_back(other_);
  return all;
}

}  // namespace jackdaw
