#include "scheduler/graph/names.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace jackdaw {
namespace {

// The index that `id` spells in the way NameOf() would, if it does.
std::optional<TaskIndex> AsIndex(absl::string_view id) {
  TaskIndex index = 0;
  if (!absl::SimpleAtoi(id, &index) || absl::StrCat(index) != id) return std::nullopt;
  return index;
}

absl::Status Taken(absl::string_view id) {
  return absl::InvalidArgumentError(absl::StrCat("duplicate task id '", id, "'"));
}

}  // namespace

absl::Status NameTable::Check(const std::vector<std::string>& ids, TaskIndex first,
                              std::size_t count) const {
  const std::size_t end = first + count;
  absl::flat_hash_set<absl::string_view> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string& id = ids[i];
    if (id.empty()) continue;
    if (index_of_.contains(id) || !seen.insert(id).second) return Taken(id);
    const std::optional<TaskIndex> alias = AsIndex(id);
    if (!alias.has_value() || *alias >= end || *alias == first + i) continue;
    const bool alias_has_id =
        *alias < first ? name_of_.contains(*alias) : !ids[*alias - first].empty();
    if (!alias_has_id) return Taken(id);
  }
  if (!some_decimal_) return absl::OkStatus();
  for (std::size_t i = 0; i < count; ++i) {
    const bool unnamed = ids.empty() || ids[i].empty();
    const std::string index = absl::StrCat(first + i);
    if (unnamed && index_of_.contains(index)) return Taken(index);
  }
  return absl::OkStatus();
}

absl::Status NameTable::AddAll(std::vector<std::string> ids, TaskIndex first, std::size_t count) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status status = Check(ids, first, count); !status.ok()) return status;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) continue;
    some_decimal_ = some_decimal_ || AsIndex(ids[i]).has_value();
    const auto index = static_cast<TaskIndex>(first + i);
    const auto it = index_of_.emplace(std::move(ids[i]), index).first;
    name_of_.emplace(index, it->first);
  }
  return absl::OkStatus();
}

std::string NameTable::NameOf(TaskIndex index) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto it = name_of_.find(index);
  return it == name_of_.end() ? absl::StrCat(index) : std::string(it->second);
}

std::optional<TaskIndex> NameTable::Find(absl::string_view id, std::size_t task_count) const {
  absl::ReaderMutexLock lock(&mutex_);
  if (const auto it = index_of_.find(id); it != index_of_.end()) return it->second;
  const std::optional<TaskIndex> index = AsIndex(id);
  if (!index.has_value() || *index >= task_count || name_of_.contains(*index)) return std::nullopt;
  return index;
}

}  // namespace jackdaw
