// What the system says about this process. Linux.
//
// Thread safety: any thread.

#ifndef JACKDAW_SERVER_PROCESS_STATS_H_
#define JACKDAW_SERVER_PROCESS_STATS_H_

namespace jackdaw {

struct ProcessStats {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double threads = 0;
};

// What cannot be read is 0.
[[nodiscard]] ProcessStats ReadProcessStats();

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_PROCESS_STATS_H_
