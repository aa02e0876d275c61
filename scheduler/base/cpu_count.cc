#include "scheduler/base/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace jackdaw {
namespace {

// One hierarchy of control groups that can limit CPU time, and where this process is in it.
struct Hierarchy {
  bool version2 = false;
  std::string mount_point;  // Where the hierarchy is mounted.
  std::string mount_root;   // The group that is seen at the mount point.
  std::string group;        // This process's group.
};

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Contains(const std::vector<absl::string_view>& list, absl::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::optional<double> Tighter(std::optional<double> a, std::optional<double> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

std::optional<double> Quota(std::int64_t quota_us, std::int64_t period_us) {
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  return static_cast<double>(quota_us) / static_cast<double>(period_us);
}

std::optional<std::int64_t> ReadNumber(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  std::int64_t number;
  if (!text || !absl::SimpleAtoi(*text, &number)) return std::nullopt;
  return number;
}

std::optional<double> QuotaOfGroup(const Hierarchy& hierarchy, const std::string& directory) {
  if (hierarchy.version2) {
    const std::optional<std::string> text = ReadFile(absl::StrCat(directory, "/cpu.max"));
    return text ? ParseCpuMax(*text) : std::nullopt;
  }
  const auto quota_us = ReadNumber(absl::StrCat(directory, "/cpu.cfs_quota_us"));
  const auto period_us = ReadNumber(absl::StrCat(directory, "/cpu.cfs_period_us"));
  if (!quota_us || !period_us) return std::nullopt;
  return Quota(*quota_us, *period_us);
}

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string Unescape(absl::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size();
    if (!escaped) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

// A line of mountinfo: `id parent dev root mount-point options [tags] - type source super`.
std::optional<Hierarchy> ParseMount(absl::string_view line) {
  const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
  if (halves.size() != 2) return std::nullopt;
  const std::vector<absl::string_view> before = absl::StrSplit(halves[0], ' ');
  const std::vector<absl::string_view> after = absl::StrSplit(halves[1], ' ');
  if (before.size() < 5 || after.size() < 3) return std::nullopt;
  const bool version2 = after[0] == "cgroup2";
  const bool version1 = after[0] == "cgroup" && Contains(absl::StrSplit(after[2], ','), "cpu");
  if (!version1 && !version2) return std::nullopt;
  return Hierarchy{.version2 = version2,
                   .mount_point = Unescape(before[4]),
                   .mount_root = Unescape(before[3]),
                   .group = "/"};
}

// A line of /proc/self/cgroup: `id:controllers:group`; version 2 has no controllers.
void AssignGroup(absl::string_view line, std::vector<Hierarchy>& hierarchies) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (fields.size() != 3) return;
  const bool version2 = fields[0] == "0" && fields[1].empty();
  if (!version2 && !Contains(absl::StrSplit(fields[1], ','), "cpu")) return;
  for (Hierarchy& hierarchy : hierarchies) {
    if (hierarchy.version2 == version2) hierarchy.group = std::string(fields[2]);
  }
}

// The group's path below the mount point. A group outside of what is mounted (a namespace
// hides it) is treated as the mounted one: what is seen there binds it as well.
std::string PathBelowMount(const Hierarchy& hierarchy) {
  absl::string_view group = hierarchy.group;
  absl::string_view root = absl::StripSuffix(hierarchy.mount_root, "/");
  if (!absl::ConsumePrefix(&group, root)) return "";
  if (!group.empty() && group.front() != '/') return "";
  if (absl::StrContains(group, "/..")) return "";
  return std::string(absl::StripSuffix(group, "/"));
}

std::optional<double> TightestQuota(const std::string& root, const Hierarchy& hierarchy) {
  std::optional<double> tightest;
  std::string below = PathBelowMount(hierarchy);
  while (true) {
    const std::string directory = absl::StrCat(root, hierarchy.mount_point, below);
    tightest = Tighter(tightest, QuotaOfGroup(hierarchy, directory));
    if (below.empty()) return tightest;
    below.resize(below.rfind('/'));
  }
}

int AffinityCpuCount() {
  // Larger than any machine's mask; sched_getaffinity() refuses one that is too small.
  constexpr int kMostCpus = 16 * 1024;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(bytes, set);
  int count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (sched_getaffinity(0, bytes, set) == 0) count = CPU_COUNT_S(bytes, set);
  CPU_FREE(set);
  return count;
}

}  // namespace

std::optional<double> ParseCpuMax(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  std::int64_t quota_us;
  std::int64_t period_us;
  if (words.size() != 2 || !absl::SimpleAtoi(words[0], &quota_us) ||
      !absl::SimpleAtoi(words[1], &period_us)) {
    return std::nullopt;
  }
  return Quota(quota_us, period_us);
}

std::optional<double> CgroupCpuQuota(const std::string& root) {
  const auto mounts = ReadFile(absl::StrCat(root, "/proc/self/mountinfo"));
  const auto groups = ReadFile(absl::StrCat(root, "/proc/self/cgroup"));
  if (!mounts || !groups) return std::nullopt;
  std::vector<Hierarchy> hierarchies;
  for (absl::string_view line : absl::StrSplit(*mounts, '\n')) {
    if (const auto hierarchy = ParseMount(line)) hierarchies.push_back(*hierarchy);
  }
  for (absl::string_view line : absl::StrSplit(*groups, '\n')) AssignGroup(line, hierarchies);
  std::optional<double> tightest;
  for (const Hierarchy& hierarchy : hierarchies) {
    tightest = Tighter(tightest, TightestQuota(root, hierarchy));
  }
  return tightest;
}

int CombineCpuLimits(int affinity, std::optional<double> quota) {
  double count = affinity;
  if (quota) count = std::min(count, std::ceil(*quota));
  return std::max(1, static_cast<int>(count));
}

int EffectiveCpuCount() { return CombineCpuLimits(AffinityCpuCount(), CgroupCpuQuota("")); }

}  // namespace jackdaw
