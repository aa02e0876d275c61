// ActionStats: how often tasks of one action ended how, and how long they waited and ran.
// Each worker writes its own cell; a reader sums.
//
// Thread safety
//   Record()   a worker passes its own index, and no other thread passes it; any other
//              thread passes kNoWorker.
//   Read()     any thread, at any time; may miss what is being recorded.

#ifndef JACKDAW_SCHEDULER_GRAPH_ACTION_STATS_H_
#define JACKDAW_SCHEDULER_GRAPH_ACTION_STATS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "scheduler/graph/state.h"

namespace jackdaw {

class ActionStats {
 public:
  // Upper bounds in seconds: 1 us, 4 us, 16 us, ... 4^14 us = 268 s; then infinity.
  static constexpr int kBucketCount = 16;
  static constexpr int kNoWorker = -1;
  [[nodiscard]] static double BucketBoundSeconds(int bucket);  // Of all but the last.

  struct Histogram {
    std::array<std::int64_t, kBucketCount> counts{};
    double sum_seconds = 0;
  };
  struct Snapshot {
    std::array<std::int64_t, kTaskStateCount> ended{};  // Tasks by terminal state.
    std::int64_t attempts = 0;
    std::int64_t retries = 0;
    Histogram queue_time;  // From ready to start, one an attempt.
    Histogram run_time;    // From start to end, one an attempt.
  };

  // `metric_name` labels the metrics: from a bounded set, never a client's free choice.
  explicit ActionStats(std::string metric_name);
  ~ActionStats();
  ActionStats(const ActionStats&) = delete;
  ActionStats& operator=(const ActionStats&) = delete;

  [[nodiscard]] absl::string_view metric_name() const { return metric_name_; }

  void RecordEnd(int worker, TaskState terminal, std::int64_t count = 1);
  void RecordRetry(int worker);
  // `count` attempts that waited and ran for about the same time each.
  void RecordAttempts(int worker, std::int64_t queue_ns, std::int64_t run_ns,
                      std::int64_t count = 1);

  [[nodiscard]] Snapshot Read() const;

 private:
  struct Cell;
  static constexpr int kCells = 64;  // Workers beyond share, by read-modify-write.
  Cell& CellOf(int worker);

  const std::string metric_name_;
  std::array<std::atomic<Cell*>, kCells + 1> cells_{};  // Made on first use.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_GRAPH_ACTION_STATS_H_
