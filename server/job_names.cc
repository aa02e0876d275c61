#include "server/job_names.h"

namespace jackdaw {

void JobNames::Count(absl::string_view name, const Tasks& tasks) {
  absl::MutexLock lock(&mutex_);
  Tasks* counted = &other_;
  const std::string key(name);
  const auto found = tasks_.find(key);
  if (found != tasks_.end()) {
    counted = &found->second;
  } else if (!key.empty() && key != kOther && tasks_.size() < max_names_) {
    counted = &tasks_[key];
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) (*counted)[i] += tasks[i];
}

std::vector<std::pair<std::string, JobNames::Tasks>> JobNames::Read() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::pair<std::string, Tasks>> all(tasks_.begin(), tasks_.end());
  all.emplace_back(kOther, other_);
  return all;
}

}  // namespace jackdaw
