// Reads the tasks of a job, page by page.

#ifndef JACKDAW_CLIENT_CLI_FETCH_TASKS_H_
#define JACKDAW_CLIENT_CLI_FETCH_TASKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/client.h"
#include "jackdaw/v1/task.pb.h"

namespace jackdaw::cli {

// By index. At most `limit`, 0: all. `states`: only those; empty: in any.
[[nodiscard]] absl::StatusOr<std::vector<v1::Task>> FetchTasks(
    Client& client, const std::string& job, v1::TaskView view,
    const std::vector<v1::Task::State>& states, std::int64_t limit);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_FETCH_TASKS_H_
