#include "server/server.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "jackdaw/v1/handler_service.pb.h"
#include "jackdaw/v1/job_service.pb.h"
#include "jackdaw/v1/server_service.pb.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/stock_functions.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "server/endpoint.h"
#include "server/health_service.h"
#include "server/job_service.h"
#include "server/job_table.h"
#include "server/listener.h"
#include "server/metrics.h"
#include "server/metrics_endpoint.h"
#include "server/reflection_service.h"
#include "server/server_service.h"
#include "server/signals.h"
#include "server/version.h"

namespace jackdaw {
namespace {

// Once running jobs were asked to stop, they get this long beyond a command's own grace.
constexpr absl::Duration kCancelMargin = absl::Seconds(2);
// Calls that are still open then get this long to end.
constexpr absl::Duration kCallMargin = absl::Milliseconds(500);

std::uint64_t RandomSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options) : options_(std::move(options)) {
    const BlockSignals block;
    timers_ = std::make_unique<TimerQueue>();
    stock_ = RegisterStockFunctions(functions_, *timers_);
  }
  ~Impl() { Stop(absl::ZeroDuration()); }

  Functions& functions() { return functions_; }

  absl::Status Start() {
    if (!stock_.ok()) return stock_;
    if (absl::Status valid = CheckOptions(); !valid.ok()) return valid;
    const BlockSignals block;
    MakeEngine();
    if (!commands_->status().ok()) return commands_->status();
    if (absl::Status metrics = StartMetrics(); !metrics.ok()) return metrics;
    AddServices();
    if (absl::Status started = main_.Start(options_.listen, Settings(options_.rpc_queues));
        !started.ok()) {
      return started;
    }
    addresses_ = main_.bound();
    if (!options_.health.empty()) {
      if (absl::Status started = probe_.Start({options_.health}, Settings(1)); !started.ok()) {
        return started;
      }
      health_address_ = probe_.bound().front();
    }
    health_->SetServing(true);
    return absl::OkStatus();
  }

  void BeginDrain() {
    if (health_ != nullptr) health_->SetServing(false);
    if (table_ != nullptr) table_->Drain();
  }

  void Stop(absl::Duration grace) {
    if (std::exchange(stopped_, true)) return;
    BeginDrain();
    if (engine_ != nullptr) EndJobs(grace);
    scrapes_.Stop();
    main_.Shutdown(kCallMargin);
    probe_.Shutdown(kCallMargin);
  }

  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }
  [[nodiscard]] const std::string& metrics_address() const { return scrapes_.bound(); }
  [[nodiscard]] const std::string& health_address() const { return health_address_; }
  [[nodiscard]] int workers() const { return pool_->size(); }
  [[nodiscard]] bool commands_enabled() const { return commands_->enabled(); }

 private:
  absl::Status CheckOptions() const {
    if (options_.listen.empty()) return absl::InvalidArgumentError("listen: no address is given");
    std::vector<std::string> all = options_.listen;
    if (!options_.health.empty()) all.push_back(options_.health);
    for (const std::string& address : all) {
      if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
    }
    if (options_.workers < -1 || options_.workers > WorkStealingPool::kMaxWorkers ||
        options_.workers == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "workers: must be 1 to ", WorkStealingPool::kMaxWorkers, ", was ", options_.workers));
    }
    if (options_.rpc_queues < 1 || options_.rpc_queues > 64) {
      return absl::InvalidArgumentError(
          absl::StrCat("rpc_queues: must be 1 to 64, was ", options_.rpc_queues));
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    if (options_.limits.max_message_bytes < 1024 || options_.limits.max_message_bytes > kMost) {
      return absl::InvalidArgumentError(absl::StrCat("max_message_bytes: must be 1024 to ", kMost,
                                                     ", was ", options_.limits.max_message_bytes));
    }
    if (options_.limits.max_tasks_per_job > Job::kMaxTasks) {
      return absl::InvalidArgumentError(absl::StrCat("max_tasks_per_job: must be at most ",
                                                     Job::kMaxTasks, ", was ",
                                                     options_.limits.max_tasks_per_job));
    }
    return absl::OkStatus();
  }

  Endpoint::Settings Settings(int queues) const {
    return {options_.limits.max_message_bytes, options_.socket_mode, queues};
  }

  void MakeEngine() {
    commands_ = std::make_unique<Commands>(options_.commands);
    WorkStealingPool::Options pool;
    pool.workers = options_.workers;
    pool.spin = options_.spin;
    pool.seed = RandomSeed();
    pool_ = std::make_unique<WorkStealingPool>(std::move(pool));
    engine_ = std::make_unique<JobEngine>(
        JobEngine::Options{pool_.get(), timers_.get(), &Clock::Real(), RandomSeed()});
    table_ = std::make_shared<JobTable>(options_.limits, Clock::Real(), RandomSeed());
    names_ = std::make_unique<JobNames>(static_cast<std::size_t>(options_.job_name_series));
    table_->OnJobDone([names = names_.get()](const Job& job, const JobSpec& spec) {
      names->Count(spec.display_name, job.Snapshot().tasks);
    });
  }

  absl::Status StartMetrics() {
    if (options_.metrics.empty()) return absl::OkStatus();
    if (absl::Status started = scrapes_.Start(options_.metrics); !started.ok()) return started;
    metrics_ = std::make_shared<Metrics>(
        Metrics::Sources{pool_.get(), engine_.get(), &functions_, commands_.get(), table_.get(),
                         names_.get(), &counters_, kVersion, start_time_});
    return absl::OkStatus();
  }

  void AddServices() {
    const Catalog catalog = {
        &functions_, commands_.get(), &options_.limits, {std::string(pool_->name())}, false};
    auto& job = main_.Add(*v1::CreateJobRequest::descriptor()->file()->service(0), counters_);
    auto& handler = main_.Add(*v1::ServeRequest::descriptor()->file()->service(0), counters_);
    auto& server = main_.Add(*v1::GetServerRequest::descriptor()->file()->service(0), counters_);
    const auto* health_descriptor =
        grpc::health::v1::HealthCheckRequest::descriptor()->file()->service(0);
    auto& health = main_.Add(*health_descriptor, counters_);
    auto& reflection =
        main_.Add(*grpc::reflection::v1::ServerReflectionRequest::descriptor()->file()->service(0),
                  counters_);
    auto& older = main_.Add(
        *grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()->service(0),
        counters_);
    jobs_ = std::make_unique<JobService>(*engine_, *table_, catalog);
    jobs_->Register(&job);
    self_ = std::make_unique<ServerService>(
        *pool_, *table_, catalog, ServerService::Facts{kVersion, start_time_, options_.listen});
    self_->Register(&server);
    const std::vector<std::string> names = {job.name(),    handler.name(),    server.name(),
                                            health.name(), reflection.name(), older.name()};
    health_ = std::make_shared<HealthService>(names);
    health_->Register(&health);
    health_->Register(&probe_.Add(*health_descriptor, probe_counters_));
    RegisterReflection(names, &reflection);
    RegisterReflection(names, &older);
    // Only now, for the methods are known.
    if (scrapes_.started()) scrapes_.Serve(metrics_);
  }

  // Lets jobs end by themselves, then makes them.
  void EndJobs(absl::Duration grace) {
    if (table_->WaitUntilIdle(grace)) return;
    engine_->CancelAll(absl::CancelledError("the server is ending"));
    if (!table_->WaitUntilIdle(options_.commands.grace + kCancelMargin)) {
      spdlog::warn("{} jobs did not stop when they were asked to", table_->active_jobs());
    }
  }

  // In the order in which they may refer to each other; destroyed the other way round.
  const ServerOptions options_;
  const absl::Time start_time_ = absl::Now();
  RpcCounters counters_;
  RpcCounters probe_counters_;
  Functions functions_;
  absl::Status stock_;
  std::unique_ptr<TimerQueue> timers_;
  std::unique_ptr<Commands> commands_;
  std::unique_ptr<WorkStealingPool> pool_;
  std::unique_ptr<JobNames> names_;
  std::unique_ptr<JobEngine> engine_;
  std::shared_ptr<JobTable> table_;
  std::unique_ptr<JobService> jobs_;
  std::unique_ptr<ServerService> self_;
  std::shared_ptr<HealthService> health_;
  std::shared_ptr<Metrics> metrics_;
  MetricsEndpoint scrapes_;
  Endpoint main_{"rpc"};
  Endpoint probe_{"health"};
  std::vector<std::string> addresses_;
  std::string health_address_;
  bool stopped_ = false;
};

namespace {

// A server has a descriptor for each client; the usual soft limit of 1024 is for programs
// that use select().
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void SayWhereItListens(const Server& server, const ServerOptions& options) {
  spdlog::info("jackdawd {} listens on {}", kVersion, absl::StrJoin(server.addresses(), ", "));
  if (!server.metrics_address().empty()) {
    spdlog::info("metrics are at http://{}/metrics", server.metrics_address());
  }
  if (!server.health_address().empty()) {
    spdlog::info("health alone is on {}", server.health_address());
  }
  spdlog::info("jobs are kept in memory only: they end with this process");
  const bool commands = options.commands.allow_all || !options.commands.allowed.empty();
  const bool all_local = std::all_of(server.addresses().begin(), server.addresses().end(),
                                     [](const std::string& a) { return IsLocalAddress(a); });
  if (!commands) {
    spdlog::info("commands are off");
  } else {
    spdlog::info(
        "commands are allowed: {}{}",
        options.commands.allow_all ? "any program" : absl::StrJoin(options.commands.allowed, ", "),
        all_local ? "" : "; only for clients on this machine");
  }
}

// A second signal ends the process at once.
void WatchForSecondSignal() {
  std::thread([] {
    const int signal = AwaitEndSignal();
    spdlog::warn("signal {} again: ending at once", signal);
    std::_Exit(128 + signal);
  }).detach();
}

}  // namespace

int Server::Run() {
  const ServerOptions& options = impl_->options();
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  HoldEndSignals();
  std::signal(SIGPIPE, SIG_IGN);
  RaiseDescriptorLimit();
  if (absl::Status started = Start(); !started.ok()) {
    spdlog::error("cannot start: {}", std::string(started.message()));
    return 1;
  }
  SayWhereItListens(*this, options);
  const int signal = AwaitEndSignal();
  spdlog::info("signal {}: taking no more jobs; running ones have {} to finish", signal,
               absl::FormatDuration(options.grace));
  WatchForSecondSignal();
  Stop(options.grace);
  spdlog::info("done");
  return 0;
}

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
Functions& Server::functions() { return impl_->functions(); }
absl::Status Server::Start() { return impl_->Start(); }
void Server::BeginDrain() { impl_->BeginDrain(); }
void Server::Stop(absl::Duration grace) { impl_->Stop(grace); }
const std::vector<std::string>& Server::addresses() const { return impl_->addresses(); }
const std::string& Server::metrics_address() const { return impl_->metrics_address(); }
const std::string& Server::health_address() const { return impl_->health_address(); }

}  // namespace jackdaw
