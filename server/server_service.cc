#include "server/server_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "jackdaw/v1/server_service.pb.h"
#include "server/convert.h"
#include "server/errors.h"
#include "server/paging.h"

namespace jackdaw {
namespace {

constexpr std::int64_t kMaxWorkersPerPage = 1000;

void FillWorker(const WorkerStats& stats, absl::string_view runner, int index, v1::Worker* proto) {
  proto->set_name(absl::StrCat("runners/", runner, "/workers/", index));
  proto->set_index(index);
  proto->set_tasks(stats.tasks);
  proto->set_own_deque_tasks(stats.from_own_deque);
  proto->set_stolen_tasks(stats.from_steals);
  proto->set_injector_tasks(stats.from_injector);
  proto->set_mailbox_tasks(stats.from_mailbox);
  proto->set_inline_tasks(stats.inline_runs);
  proto->set_steals_taken(stats.steals_taken);
  proto->set_steals_empty(stats.steals_empty);
  proto->set_steals_lost(stats.steals_lost);
  proto->set_idle_spins(stats.idle_spins);
  proto->set_queue_depth(stats.queue_depth);
  ToProto(absl::Nanoseconds(stats.spin_ns), proto->mutable_spin_duration());
  ToProto(absl::Nanoseconds(stats.park_ns), proto->mutable_park_duration());
  ToProto(absl::Nanoseconds(stats.busy_ns), proto->mutable_busy_duration());
  proto->set_parks(stats.parks);
}

}  // namespace

ServerService::ServerService(const WorkStealingPool& pool, const JobTable& table, Catalog catalog,
                             Facts facts)
    : pool_(pool), table_(table), catalog_(std::move(catalog)), facts_(std::move(facts)) {}

void ServerService::Register(RpcService* service) {
  service->HandleUnary<v1::GetServerRequest, v1::Server>(
      "GetServer",
      [this](const Call& call, auto&, auto* server) { return GetServer(call, server); });
  service->HandleUnary<v1::ListWorkersRequest, v1::ListWorkersResponse>(
      "ListWorkers", [this](const Call&, auto& request, auto* response) {
        return ListWorkers(request, response);
      });
}

absl::Status ServerService::GetServer(const Call& call, v1::Server* response) {
  response->set_version(facts_.version);
  ToProto(facts_.start_time, response->mutable_start_time());
  response->set_durable(false);
  response->set_draining(table_.draining());
  response->set_commands_allowed(catalog_.commands->enabled() && call.from_this_machine());
  for (std::string& name : catalog_.functions->names()) response->add_functions(std::move(name));
  for (const std::string& runner : catalog_.runners) response->add_runners(runner);
  ToProto(*catalog_.limits, response->mutable_limits());
  for (const std::string& address : facts_.addresses) response->add_addresses(address);
  response->set_active_jobs(table_.active_jobs());
  return absl::OkStatus();
}

absl::Status ServerService::ListWorkers(const v1::ListWorkersRequest& request,
                                        v1::ListWorkersResponse* response) {
  absl::StatusOr<std::int64_t> size = PageSize(request.page_size(), kMaxWorkersPerPage);
  if (!size.ok()) return size.status();
  absl::string_view runner = request.parent();
  const std::string& known = catalog_.runners.front();
  if (!runner.empty()) {
    if (!absl::ConsumePrefix(&runner, "runners/") || runner.empty()) {
      return FieldError(
          "parent",
          absl::StrCat("must be of the form `runners/{runner}`, was \"", request.parent(), "\""),
          "INVALID_NAME");
    }
    if (runner != "-" && runner != known) return NotFound(request.parent(), "RUNNER_NOT_FOUND");
  }
  absl::StatusOr<std::int64_t> next = ParsePageToken("workers", request.page_token());
  if (!next.ok()) return next.status();
  const std::vector<WorkerStats> workers = pool_.worker_stats();
  const auto count = static_cast<std::int64_t>(workers.size());
  std::int64_t index = *next;
  for (; index < count && response->workers_size() < *size; ++index) {
    FillWorker(workers[static_cast<std::size_t>(index)], known, static_cast<int>(index),
               response->add_workers());
  }
  if (index < count) response->set_next_page_token(MakePageToken("workers", index));
  return absl::OkStatus();
}

}  // namespace jackdaw
