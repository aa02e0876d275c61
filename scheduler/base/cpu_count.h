// How many CPUs this process may really use: its affinity mask, cut by the quotas of its
// control groups. In a container the machine's own count is of no use: a pool of that size
// is throttled for most of each period.
//
// Thread safety: any thread. Reads a few files of /proc and /sys.

#ifndef JACKDAW_SCHEDULER_BASE_CPU_COUNT_H_
#define JACKDAW_SCHEDULER_BASE_CPU_COUNT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace jackdaw {

// At least 1: the smaller of the CPUs in the affinity mask and the tightest quota, rounded up.
[[nodiscard]] int EffectiveCpuCount();

// The tightest CPU quota over the process's control group and all its ancestors, of version
// 1 and of version 2, in CPUs. Nothing where there is no quota, and where a file is missing
// or unreadable: a limit that cannot be read is taken for none.
//
// Reads `<root>/proc/self/cgroup`, `<root>/proc/self/mountinfo` and, below the mount points
// these name, `cpu.max` (version 2), `cpu.cfs_quota_us` and `cpu.cfs_period_us` (version 1).
// `root` is empty for the real system; a test builds a tree of its own.
[[nodiscard]] std::optional<double> CgroupCpuQuota(const std::string& root);

// What EffectiveCpuCount() makes of the two: `quota` rounded up, not above `affinity`, not
// below 1.
[[nodiscard]] int CombineCpuLimits(int affinity, std::optional<double> quota);

// The quota in the text of a `cpu.max` file ("150000 100000\n": 1.5); nothing for "max" and
// for text that is not of this form.
[[nodiscard]] std::optional<double> ParseCpuMax(absl::string_view text);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_CPU_COUNT_H_
