#include "client/cli/fetch_tasks.h"

#include <algorithm>
#include <utility>

#include "client/cpp/convert.h"

namespace jackdaw::cli {
namespace {

constexpr std::size_t kPageSize = 10'000;

}  // namespace

absl::StatusOr<std::vector<v1::Task>> FetchTasks(Client& client, const std::string& job,
                                                 v1::TaskView view,
                                                 const std::vector<v1::Task::State>& states,
                                                 std::int64_t limit) {
  const std::size_t most = limit == 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
  v1::ListTasksRequest request;
  request.set_parent(client::JobName(job));
  request.set_view(view);
  for (const v1::Task::State state : states) request.add_states(state);
  std::vector<v1::Task> tasks;
  do {
    request.set_page_size(static_cast<std::int32_t>(std::min(kPageSize, most - tasks.size())));
    absl::StatusOr<v1::ListTasksResponse> page = client.ListTasks(request);
    if (!page.ok()) return page.status();
    for (v1::Task& task : *page->mutable_tasks()) tasks.push_back(std::move(task));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && tasks.size() < most);
  return tasks;
}

}  // namespace jackdaw::cli
