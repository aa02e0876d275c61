#include "server/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace jackdaw {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double CountEntries(const char* folder) {
  std::error_code error;
  double count = 0;
  for (auto i = std::filesystem::directory_iterator(folder, error);
       !error && i != std::filesystem::directory_iterator(); i.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  std::ifstream memory("/proc/self/statm");
  double pages = 0;
  if (memory >> pages >> pages) {
    stats.resident_bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  stats.open_fds = CountEntries("/proc/self/fd");
  stats.threads = CountEntries("/proc/self/task");
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = static_cast<double>(limit.rlim_cur);
  return stats;
}

}  // namespace jackdaw
