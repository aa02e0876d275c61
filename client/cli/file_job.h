// From a job file to the job that is sent.

#ifndef JACKDAW_CLIENT_CLI_FILE_JOB_H_
#define JACKDAW_CLIENT_CLI_FILE_JOB_H_

#include <cstdint>
#include <vector>

#include "client/jobfile/job_file.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::cli {

// The tasks keep their order: place i of the file is index i of the job.
[[nodiscard]] v1::Job ToJob(const jobfile::JobFile& file);

// The tasks that no other waits for, in the order of the file: what the job is for.
[[nodiscard]] std::vector<std::uint32_t> Sinks(const jobfile::JobFile& file);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_FILE_JOB_H_
