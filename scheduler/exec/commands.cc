#include "scheduler/exec/commands.h"

#include <stdlib.h>

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/cpu_count.h"
#include "scheduler/exec/allow_list.h"
#include "scheduler/exec/command_reactor.h"
#include "scheduler/exec/command_run.h"
#include "scheduler/exec/program_path.h"
#include "scheduler/exec/program_stats.h"
#include "scheduler/exec/safe_text.h"
#include "scheduler/graph/concurrency_limit.h"

namespace jackdaw {
namespace {

std::string SearchPath() {
  const char* path = getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

std::map<std::string, std::string> PassedEnvironment(const std::vector<std::string>& names) {
  std::map<std::string, std::string> environment;
  for (const std::string& name : names) {
    if (const char* value = getenv(name.c_str()); value != nullptr) environment[name] = value;
  }
  return environment;
}

absl::Status OutOfRange(absl::string_view option, absl::string_view value,
                        absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": ", value, " is not in the range of ", range));
}

absl::Status ValidateOptions(const Commands::Options& options) {
  if (options.max_running < 0 || options.max_running > Commands::kMaxRunning) {
    return OutOfRange("max_running", absl::StrCat(options.max_running),
                      absl::StrCat("0 to ", Commands::kMaxRunning));
  }
  for (const auto& [name, value] : {std::pair("max_output_bytes", options.max_output_bytes),
                                    std::pair("max_log_bytes", options.max_log_bytes)}) {
    if (value < 0 || value > Commands::kMaxCapturedBytes) {
      return OutOfRange(name, absl::StrCat(value),
                        absl::StrCat("0 to ", Commands::kMaxCapturedBytes));
    }
  }
  for (const auto& [name, value] :
       {std::pair("grace", options.grace), std::pair("linger", options.linger)}) {
    if (value < absl::ZeroDuration() || value > Commands::kMaxGrace) {
      return OutOfRange(name, absl::FormatDuration(value),
                        absl::StrCat("0 to ", absl::FormatDuration(Commands::kMaxGrace)));
    }
  }
  for (const std::string& entry : options.allowed) {
    if (entry.empty() || (absl::StrContains(entry, '/') && entry[0] != '/')) {
      return absl::InvalidArgumentError(absl::StrCat(
          "allowed: \"", SafeText(entry), "\" is neither a program's name nor an absolute path"));
    }
  }
  return absl::OkStatus();
}

class CommandAction final : public Action {
 public:
  CommandAction(CommandSpec spec, std::shared_ptr<ActionStats> stats,
                std::shared_ptr<const AllowList> allow_list,
                std::shared_ptr<CommandReactor> reactor, std::shared_ptr<ConcurrencyLimit> limit)
      : Action("command", std::move(stats)),
        spec_(std::make_shared<const CommandSpec>(std::move(spec))),
        allow_list_(std::move(allow_list)),
        reactor_(std::move(reactor)),
        limit_(std::move(limit)) {}

  std::optional<Outcome> Start(Attempt& attempt) override {
    absl::StatusOr<std::string> path = allow_list_->Resolve(*spec_);
    if (!path.ok()) return Outcome{path.status(), {}, {}};
    auto run =
        std::make_shared<CommandRun>(MakeRequest(attempt, *std::move(path)), reactor_->limits());
    std::shared_ptr<DetachedAttempt> detached = attempt.Detach(
        [run, reactor = reactor_](const absl::Status& reason) { reactor->Stop(run, reason); });
    run->set_attempt(detached);
    if (!reactor_->Submit(std::move(run))) {
      detached->Finish(Outcome{absl::UnavailableError("commands have been shut down"), {}, {}});
    }
    return std::nullopt;
  }

  ConcurrencyLimit* concurrency_limit() const override { return limit_.get(); }

 private:
  CommandRun::Request MakeRequest(const Attempt& attempt, std::string path) const {
    CommandRun::Request request;
    request.spec = spec_;
    request.path = std::move(path);
    request.identity = {{"JACKDAW_JOB_ID", std::string(attempt.job_id())},
                        {"JACKDAW_TASK_ID", attempt.task_id()},
                        {"JACKDAW_ATTEMPT", absl::StrCat(attempt.number())}};
    if (spec_->stdin_from == CommandSpec::Stdin::kPayload) {
      request.stdin_data.push_back(attempt.payload());
    } else if (spec_->stdin_from == CommandSpec::Stdin::kInputs) {
      request.stdin_data.reserve(attempt.input_count());
      for (std::size_t i = 0; i < attempt.input_count(); ++i) {
        request.stdin_data.push_back(attempt.input(i));
      }
    }
    return request;
  }

  const std::shared_ptr<const CommandSpec> spec_;
  const std::shared_ptr<const AllowList> allow_list_;
  const std::shared_ptr<CommandReactor> reactor_;
  const std::shared_ptr<ConcurrencyLimit> limit_;  // Of all commands together.
};

}  // namespace

class Commands::Impl {
 public:
  explicit Impl(Options options)
      : allow_list_(
            std::make_shared<const AllowList>(options.allow_all, options.allowed, SearchPath())),
        limit_(std::make_shared<ConcurrencyLimit>(options.max_running <= 0 ? 2 * EffectiveCpuCount()
                                                                           : options.max_running)) {
    status_ = ValidateOptions(options);
    if (!status_.ok() || !allow_list_->enabled()) return;
    CommandReactor::Options reactor;
    reactor.limits = {options.max_output_bytes, options.max_log_bytes, options.grace,
                      options.linger};
    reactor.environment = PassedEnvironment(options.pass_environment);
    reactor.max_running = limit_->limit();
    absl::StatusOr<std::shared_ptr<CommandReactor>> created =
        CommandReactor::Create(std::move(reactor));
    status_ = created.status();
    if (created.ok()) reactor_ = *std::move(created);
  }
  // Explicit, because actions keep the reactor alive.
  ~Impl() {
    if (reactor_ != nullptr) reactor_->Shutdown();
  }

  absl::StatusOr<std::shared_ptr<Action>> Make(CommandSpec spec) {
    if (!status_.ok()) return status_;
    if (absl::Status valid = Validate(spec); !valid.ok()) return valid;
    if (absl::Status allowed = allow_list_->Check(spec); !allowed.ok()) return allowed;
    const auto exists = [&] {
      const absl::StatusOr<std::string> path = allow_list_->Resolve(spec);
      return path.ok() && FindProgram(Basename(*path), Directory(*path)).ok();
    };
    std::shared_ptr<ActionStats> stats = stats_.Of(Basename(spec.argv[0]), exists);
    return std::make_shared<CommandAction>(std::move(spec), std::move(stats), allow_list_, reactor_,
                                           limit_);
  }

  const absl::Status& status() const { return status_; }
  const AllowList& allow_list() const { return *allow_list_; }
  const CommandReactor* reactor() const { return reactor_.get(); }
  const ProgramStats& stats() const { return stats_; }
  int max_running() const { return limit_->limit(); }

 private:
  static std::string Directory(const std::string& path) {
    return path.substr(0, path.size() - Basename(path).size());
  }

  const std::shared_ptr<const AllowList> allow_list_;
  const std::shared_ptr<ConcurrencyLimit> limit_;
  absl::Status status_;
  ProgramStats stats_;
  std::shared_ptr<CommandReactor> reactor_;  // Null when commands are off.
};

Commands::Commands(Options options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Commands::~Commands() = default;

absl::Status Commands::status() const { return impl_->status(); }

absl::StatusOr<std::shared_ptr<Action>> Commands::Make(CommandSpec spec) {
  return impl_->Make(std::move(spec));
}

bool Commands::enabled() const { return impl_->allow_list().enabled(); }

std::int64_t Commands::running() const {
  return impl_->reactor() == nullptr ? 0 : impl_->reactor()->running();
}

std::int64_t Commands::queued() const {
  return impl_->reactor() == nullptr ? 0 : impl_->reactor()->queued();
}

int Commands::max_running() const { return impl_->max_running(); }

std::vector<std::shared_ptr<ActionStats>> Commands::stats() const { return impl_->stats().All(); }

}  // namespace jackdaw
