// JobEvents: what a watcher is told of a job, as a sequence of rounds. A round tells the
// changes since the last one, or everything where those are too many, in events of bounded
// size. Nothing is kept between events but where the watcher is.
//
// Thread safety: none; one watcher's own.

#ifndef JACKDAW_SERVER_JOB_EVENTS_H_
#define JACKDAW_SERVER_JOB_EVENTS_H_

#include <cstdint>
#include <string>

#include "jackdaw/v1/job.pb.h"
#include "scheduler/graph/job.h"
#include "server/convert.h"
#include "server/job_table.h"

namespace jackdaw {

class JobEvents {
 public:
  enum class Tasks { kNone, kStates, kFull };
  static constexpr std::uint32_t kStatesPerEvent = 1 << 16;
  static constexpr std::uint32_t kTasksPerEvent = 256;
  static constexpr std::int64_t kOutputBytesPerEvent = 512 << 10;  // Or one task's.

  // `runner`: the name of the runner that runs the job's tasks. `revision`: what the watcher
  // knows already; 0: nothing.
  JobEvents(JobEntry entry, std::string runner, Tasks tasks, std::int64_t max_output_bytes,
            std::uint64_t revision);

  // Reads what changed.
  void BeginRound();
  // Fills the round's next event. False if there is none.
  bool Next(v1::JobEvent* event);
  // Whether the event told last was the last of a job that is terminal.
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  void FillTasks(v1::JobEvent* event);
  [[nodiscard]] TaskIndex TaskAt(std::size_t position) const;

  const JobEntry entry_;
  const std::string runner_;
  const Tasks tasks_;
  const std::int64_t max_output_bytes_;
  std::uint64_t revision_;

  JobSnapshot snapshot_;
  JobChanges changes_;
  std::size_t next_ = 0;   // Of the round's tasks.
  std::size_t count_ = 0;  // The round's tasks.
  bool pending_ = false;   // Whether the round has another event.
  bool first_of_round_ = false;
  bool told_anything_ = false;
  std::uint64_t told_job_revision_ = 0;
  bool finished_ = false;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_EVENTS_H_
