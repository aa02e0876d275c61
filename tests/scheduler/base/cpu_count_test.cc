// The count of usable CPUs, over fake trees of /proc and of control groups. The cases are
// those that users of other schedulers met: a host's core count used under a quota, and a
// tighter quota of an ancestor ignored (golang#81180).

#include "scheduler/base/cpu_count.h"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace jackdaw {
namespace {

class CgroupCpuQuotaTest : public testing::Test {
 protected:
  CgroupCpuQuotaTest()
      : root_(absl::StrCat(testing::TempDir(), "/cpu_count_",
                           testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(root_);
  }
  ~CgroupCpuQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void Version2(const std::string& group) {
    Write("/proc/self/cgroup", absl::StrCat("0::", group, "\n"));
    Write("/proc/self/mountinfo",
          "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
          "31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  }
  void Version1(const std::string& group, const std::string& mount_root = "/") {
    Write("/proc/self/cgroup",
          absl::StrCat("5:memory:/elsewhere\n4:cpu,cpuacct:", group, "\n1:name=systemd:/\n"));
    Write(
        "/proc/self/mountinfo",
        absl::StrCat("33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n34 25 0:30 ",
                     mount_root, " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"));
  }
  void Version1Quota(const std::string& group, const std::string& quota_us) {
    Write(absl::StrCat("/sys/fs/cgroup/cpu", group, "/cpu.cfs_quota_us"), quota_us + "\n");
    Write(absl::StrCat("/sys/fs/cgroup/cpu", group, "/cpu.cfs_period_us"), "100000\n");
  }

  const std::string root_;
};

TEST_F(CgroupCpuQuotaTest, IsNothingWithoutProc) { EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt); }

TEST_F(CgroupCpuQuotaTest, IsNothingWithoutFilesOfTheGroup) {
  Version2("/app");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST_F(CgroupCpuQuotaTest, ReadsVersion2) {
  Version2("/app");
  Write("/sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 1.5);
}

TEST_F(CgroupCpuQuotaTest, MaxMeansNoLimit) {
  Version2("/app");
  Write("/sys/fs/cgroup/app/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST_F(CgroupCpuQuotaTest, TightestAncestorBinds) {
  Version2("/pods/pod/app");
  Write("/sys/fs/cgroup/pods/cpu.max", "800000 100000\n");
  Write("/sys/fs/cgroup/pods/pod/cpu.max", "200000 100000\n");
  Write("/sys/fs/cgroup/pods/pod/app/cpu.max", "400000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 2.0);
}

TEST_F(CgroupCpuQuotaTest, AncestorBindsAGroupWithoutAQuotaOfItsOwn) {
  Version2("/pods/pod/app");
  Write("/sys/fs/cgroup/pods/cpu.max", "300000 100000\n");
  Write("/sys/fs/cgroup/pods/pod/app/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 3.0);
}

TEST_F(CgroupCpuQuotaTest, NamespacedGroupIsTheMountPoint) {
  Version2("/");
  Write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 2.5);
}

TEST_F(CgroupCpuQuotaTest, GroupOutsideTheNamespaceIsTheMountPoint) {
  Version2("/../other");
  Write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 2.5);
}

TEST_F(CgroupCpuQuotaTest, ReadsVersion1WithItsAncestors) {
  Version1("/docker/abc");
  Version1Quota("", "-1");
  Version1Quota("/docker", "300000");
  Version1Quota("/docker/abc", "450000");
  EXPECT_EQ(CgroupCpuQuota(root_), 3.0);
}

TEST_F(CgroupCpuQuotaTest, Version1WithoutLimitIsMinusOne) {
  Version1("/docker/abc");
  Version1Quota("/docker/abc", "-1");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST_F(CgroupCpuQuotaTest, Version1MountOfASubtreeIsSeenFromItsRoot) {
  Version1("/docker/abc", "/docker/abc");
  Version1Quota("", "100000");
  EXPECT_EQ(CgroupCpuQuota(root_), 1.0);
}

TEST_F(CgroupCpuQuotaTest, HybridTakesTheTighterOfBothVersions) {
  Write("/proc/self/cgroup", "4:cpu:/app\n0::/app\n");
  Write("/proc/self/mountinfo",
        "34 25 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "35 25 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  Version1Quota("/app", "400000");
  Write("/sys/fs/cgroup/unified/app/cpu.max", "200000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 2.0);
}

TEST_F(CgroupCpuQuotaTest, MountPointWithASpaceIsUnescaped) {
  Write("/proc/self/cgroup", "0::/app\n");
  Write("/proc/self/mountinfo", "31 25 0:27 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  Write("/my groups/app/cpu.max", "50000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 0.5);
}

TEST_F(CgroupCpuQuotaTest, BrokenFilesAreNoLimit) {
  Write("/proc/self/cgroup", "\n:\n0:\n4:cpu\nx:y:z:w\n0::/app\n");
  Write("/proc/self/mountinfo",
        "\n - \nnonsense - cgroup2\n31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  Write("/sys/fs/cgroup/app/cpu.max", "lots of it\n");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST(ParseCpuMaxTest, TakesQuotaAndPeriodOnly) {
  EXPECT_EQ(ParseCpuMax("100000 50000\n"), 2.0);
  EXPECT_EQ(ParseCpuMax("100000 50000"), 2.0);
  EXPECT_EQ(ParseCpuMax("max 100000\n"), std::nullopt);
  EXPECT_EQ(ParseCpuMax(""), std::nullopt);
  EXPECT_EQ(ParseCpuMax("100000\n"), std::nullopt);
  EXPECT_EQ(ParseCpuMax("100000 0\n"), std::nullopt);
  EXPECT_EQ(ParseCpuMax("-5 100000\n"), std::nullopt);
  EXPECT_EQ(ParseCpuMax("1 2 3\n"), std::nullopt);
}

TEST(CombineCpuLimitsTest, TakesTheSmallerRoundedUpAndAtLeastOne) {
  EXPECT_EQ(CombineCpuLimits(8, std::nullopt), 8);
  EXPECT_EQ(CombineCpuLimits(8, 1.5), 2);
  EXPECT_EQ(CombineCpuLimits(8, 2.0), 2);
  EXPECT_EQ(CombineCpuLimits(8, 0.1), 1);
  EXPECT_EQ(CombineCpuLimits(2, 100.0), 2);
  EXPECT_EQ(CombineCpuLimits(0, std::nullopt), 1);
  EXPECT_EQ(CombineCpuLimits(2, 1e12), 2);
}

TEST(EffectiveCpuCountTest, KeepsToTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int allowed = 0;
  while (!CPU_ISSET(allowed, &before)) ++allowed;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(allowed, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(EffectiveCpuCount(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(EffectiveCpuCount(), 1);
  EXPECT_LE(EffectiveCpuCount(), CPU_COUNT(&before));
}

}  // namespace
}  // namespace jackdaw
