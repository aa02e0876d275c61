// What must hold between the tasks of a job file: distinct ids, dependencies that exist, no
// cycle.

#ifndef JACKDAW_CLIENT_JOBFILE_CHECK_H_
#define JACKDAW_CLIENT_JOBFILE_CHECK_H_

#include <vector>

#include "client/jobfile/errors.h"
#include "client/jobfile/job_file.h"

namespace jackdaw::jobfile {

// Where the parts of a task stand, for messages about it.
struct TaskPlaces {
  Place task;
  Place id;
  std::vector<Place> after;  // One for each of Task::after.
};

// Fills in Task::dependencies, or adds what is wrong. Linear but for the hints.
// Requires as many `places` as tasks.
void CheckGraph(std::vector<Task>& tasks, const std::vector<TaskPlaces>& places, Errors& errors);

// The places of tasks on a cycle, each depending on the next and the last on the first;
// empty if there is none. No recursion.
[[nodiscard]] std::vector<std::uint32_t> FindCycle(const std::vector<Task>& tasks);

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_CHECK_H_
