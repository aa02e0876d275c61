#include "client/jobfile/check.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/jobfile/words.h"

namespace jackdaw::jobfile {
namespace {

// A longer cycle is shown by its beginning and its end.
constexpr std::size_t kMaxNamedInCycle = 12;
// Looking for the nearest name costs time for every task: no hints for more mistakes.
constexpr std::size_t kMaxHints = kMaxReportedErrors;

using Index = absl::flat_hash_map<std::string, std::uint32_t>;

Index IndexTasks(const std::vector<Task>& tasks, const std::vector<TaskPlaces>& places,
                 Errors& errors) {
  Index index;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].id.empty()) continue;  // A mistake that was reported already.
    const auto [first, inserted] = index.emplace(tasks[i].id, i);
    if (inserted) continue;
    errors.Add(places[i].id, absl::StrCat("tasks[", i, "].id"),
               absl::StrCat("found ", Quoted(tasks[i].id), ", which tasks[", first->second,
                            "] has already (line ", places[first->second].id.line,
                            "), expected an id of its own"));
  }
  return index;
}

std::string HintFor(absl::string_view id, const std::vector<Task>& tasks) {
  std::vector<std::string> ids;
  ids.reserve(tasks.size());
  for (const Task& task : tasks) ids.push_back(task.id);
  return DidYouMean(id, ids);
}

std::string NameCycle(const std::vector<Task>& tasks, const std::vector<std::uint32_t>& cycle) {
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > kMaxNamedInCycle && i == kMaxNamedInCycle - 1) {
      absl::StrAppend(&text, "... (", cycle.size() - kMaxNamedInCycle, " more) -> ");
      i = cycle.size() - 1;
    }
    absl::StrAppend(&text, Quoted(tasks[cycle[i]].id), " -> ");
  }
  return absl::StrCat(text, Quoted(tasks[cycle.front()].id));
}

}  // namespace

std::vector<std::uint32_t> FindCycle(const std::vector<Task>& tasks) {
  enum class Mark : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Mark> marks(tasks.size(), Mark::kNew);
  struct Step {
    std::uint32_t task;
    std::size_t next = 0;  // The dependency to look at next.
  };
  std::vector<Step> path;
  for (std::uint32_t start = 0; start < tasks.size(); ++start) {
    if (marks[start] != Mark::kNew) continue;
    path.push_back({start});
    marks[start] = Mark::kOnPath;
    while (!path.empty()) {
      Step& step = path.back();
      const std::vector<std::uint32_t>& dependencies = tasks[step.task].dependencies;
      if (step.next == dependencies.size()) {
        marks[step.task] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::uint32_t next = dependencies[step.next++];
      if (marks[next] == Mark::kOnPath) {
        std::vector<std::uint32_t> cycle;
        const auto first = std::find_if(path.begin(), path.end(),
                                        [next](const Step& s) { return s.task == next; });
        for (auto it = first; it != path.end(); ++it) cycle.push_back(it->task);
        return cycle;
      }
      if (marks[next] == Mark::kNew) {
        marks[next] = Mark::kOnPath;
        path.push_back({next});
      }
    }
  }
  return {};
}

void CheckGraph(std::vector<Task>& tasks, const std::vector<TaskPlaces>& places, Errors& errors) {
  const Index index = IndexTasks(tasks, places, errors);
  std::size_t hints = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    absl::flat_hash_set<std::uint32_t> seen;
    for (std::size_t k = 0; k < tasks[i].after.size(); ++k) {
      const std::string& id = tasks[i].after[k];
      const std::string field = absl::StrCat("tasks[", i, "].after[", k, "]");
      const auto found = index.find(id);
      if (found == index.end()) {
        errors.Add(places[i].after[k], field,
                   absl::StrCat("found ", Quoted(id), ", expected the id of a task of this job",
                                hints++ < kMaxHints ? HintFor(id, tasks) : ""));
      } else if (!seen.insert(found->second).second) {
        errors.Add(places[i].after[k], field,
                   absl::StrCat("found ", Quoted(id), " twice, expected each task once"));
      } else {
        tasks[i].dependencies.push_back(found->second);
      }
    }
  }
  const std::vector<std::uint32_t> cycle = FindCycle(tasks);
  if (cycle.empty()) return;
  errors.Add(places[cycle.front()].task, absl::StrCat("tasks[", cycle.front(), "].after"),
             absl::StrCat("found a cycle, each task after the next: ", NameCycle(tasks, cycle),
                          ", expected none"));
}

}  // namespace jackdaw::jobfile
