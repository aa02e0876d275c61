#include "server/config.h"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "server/listener.h"
#include "server/version.h"

namespace jackdaw {
namespace {

constexpr char kExamples[] = R"(Examples:
  jackdawd
      gRPC on 127.0.0.1:7433, metrics on http://127.0.0.1:9433/metrics
  jackdawd --listen unix:/run/jackdaw.sock --socket-mode 660 --metrics off
      only for processes that may open the socket
  jackdawd --listen 0.0.0.0:7433 --health 0.0.0.0:7434 --metrics 0.0.0.0:9433 --workers 4
      for a container: probes reach the health service alone
  jackdawd --allow-command tr --allow-command /usr/bin/sort
      tasks may run these two programs, and no other

SIGTERM or SIGINT: no more jobs are taken, running ones have --grace to finish, exit code 0.
A second one ends at once, exit code 128 plus its number. Exit code 1: it could not start;
2: a flag is wrong.

Clients may send keepalive pings once a second and slower, also while nothing is called.

Every flag can also be set in the environment, --max-active-jobs as
JACKDAW_MAX_ACTIVE_JOBS, or in the file of --config, as max-active-jobs = 100.)";

// "30s", "1h30m", "250ms"; a bare number is seconds.
std::string CheckDuration(const std::string& text) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) || absl::ParseDuration(text + "s", &duration)) {
    if (duration >= absl::ZeroDuration() && duration <= absl::Hours(24 * 365)) return "";
  }
  return absl::StrCat("must be a duration such as 30s or 250ms, was ", text);
}

absl::Duration ToDuration(const std::string& text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration)) absl::ParseDuration(text + "s", &duration);
  return duration;
}

std::string CheckListenAddress(const std::string& text) {
  const absl::Status status = CheckAddress(text);
  return status.ok() ? "" : std::string(status.message());
}

std::string CheckOptionalAddress(const std::string& text) {
  return text == "off" || text.empty() ? "" : CheckListenAddress(text);
}

// What is read as text and turned into options afterwards.
struct Texts {
  std::string spin;
  std::string grace;
  std::string command_grace;
  std::string request_id_retention;
  std::string retry_delay;
  std::string socket_mode;
};

void AddNetwork(CLI::App& app, ServerOptions& options, Texts& texts) {
  app.add_option("--listen", options.listen,
                 "Serve gRPC here: host:port, [v6]:port or unix:path. Repeatable.")
      ->check(CheckListenAddress)
      ->group("Network");
  texts.socket_mode = "660";
  app.add_option("--socket-mode", texts.socket_mode, "Mode of Unix sockets, octal.")
      ->check(CLI::Validator(
          [](std::string& text) -> std::string {
            const bool octal = !text.empty() && text.size() <= 4 &&
                               text.find_first_not_of("01234567") == std::string::npos;
            return octal ? "" : absl::StrCat("must be octal, such as 660, was ", text);
          },
          "MODE"))
      ->group("Network");
  app.add_option("--metrics", options.metrics, "Serve /metrics here: host:port, or off.")
      ->check(CheckOptionalAddress)
      ->group("Network");
  app.add_option("--health", options.health,
                 "Serve the health service, and nothing else, here too: host:port, or off.")
      ->check(CheckOptionalAddress)
      ->group("Network");
  app.add_option("--rpc-queues", options.rpc_queues,
                 "Completion queues, each with a thread. More than one seldom helps.")
      ->check(CLI::Range(1, 64))
      ->group("Network");
}

void AddWork(CLI::App& app, ServerOptions& options, Texts& texts) {
  app.add_option("--workers", options.workers,
                 "Worker threads. Default: the CPUs that this process may use.")
      ->check(CLI::Range(1, 1024))
      ->group("Work");
  texts.spin = absl::FormatDuration(options.spin);
  app.add_option("--spin", texts.spin, "Longest time an idle worker searches before it sleeps.")
      ->check(CheckDuration)
      ->group("Work");
  app.add_flag("--allow-commands", options.commands.allow_all,
               "Let tasks run any program. Only for clients on this machine.")
      ->group("Work");
  app.add_option("--allow-command", options.commands.allowed,
                 "Let tasks run this program: a name in PATH or an absolute path. Repeatable.")
      ->group("Work");
  app.add_option("--max-running-commands", options.commands.max_running,
                 "Commands at once. Default (0): twice the usable CPUs.")
      ->check(CLI::Range(0, Commands::kMaxRunning))
      ->group("Work");
  texts.command_grace = absl::FormatDuration(options.commands.grace);
  app.add_option("--command-grace", texts.command_grace,
                 "Time between SIGTERM and SIGKILL for a command that is to stop.")
      ->check(CheckDuration)
      ->group("Work");
  texts.grace = absl::FormatDuration(options.grace);
  app.add_option("--grace", texts.grace, "Time that running jobs have to finish after SIGTERM.")
      ->check(CheckDuration)
      ->group("Work");
}

void AddLimits(CLI::App& app, ServerOptions& options, Texts& texts) {
  const auto limit = [&](const std::string& flag, std::int64_t& value, const std::string& help) {
    app.add_option(flag, value, help)
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->group("Limits");
  };
  ServerLimits& limits = options.limits;
  limit("--max-active-jobs", limits.max_active_jobs, "Jobs that are not done.");
  limit("--max-done-jobs", limits.max_done_jobs, "Done jobs that are kept; the oldest go first.");
  limit("--max-done-tasks", limits.max_done_tasks, "Tasks of done jobs that are kept.");
  limit("--max-active-tasks", limits.max_active_tasks, "Tasks of jobs that are not done.");
  limit("--max-tasks-per-job", limits.max_tasks_per_job, "Tasks of one job.");
  limit("--max-dependencies-per-task", limits.max_dependencies_per_task,
        "Dependencies of one task.");
  limit("--max-message-bytes", limits.max_message_bytes, "Bytes of one request.");
  limit("--max-payload-bytes", limits.max_payload_bytes, "Bytes of one task's payload.");
  limit("--max-request-ids", limits.max_request_ids, "Answers to request ids that are kept.");
  limit("--max-output-bytes", options.commands.max_output_bytes,
        "Bytes of one command's standard output.");
  limit("--max-log-bytes", options.commands.max_log_bytes,
        "Bytes kept of one command's standard error.");
  texts.request_id_retention = absl::FormatDuration(limits.request_id_retention);
  app.add_option("--request-id-retention", texts.request_id_retention,
                 "How long the answer to a request id is kept.")
      ->check(CheckDuration)
      ->group("Limits");
  texts.retry_delay = absl::FormatDuration(limits.retry_delay);
  app.add_option("--retry-delay", texts.retry_delay,
                 "How long a client that is refused because of the load is told to wait.")
      ->check(CheckDuration)
      ->group("Limits");
  app.add_option("--job-name-series", options.job_name_series,
                 "Names of jobs that /metrics tells apart; the rest is counted as __other__.")
      ->check(CLI::Range(0, 1000))
      ->group("Limits");
}

void Apply(const Texts& texts, ServerOptions& options) {
  options.spin = ToDuration(texts.spin);
  options.grace = ToDuration(texts.grace);
  options.commands.grace = ToDuration(texts.command_grace);
  options.limits.request_id_retention = ToDuration(texts.request_id_retention);
  options.limits.retry_delay = ToDuration(texts.retry_delay);
  options.socket_mode = std::stoi(texts.socket_mode, nullptr, 8);
  if (options.metrics == "off") options.metrics.clear();
  if (options.health == "off") options.health.clear();
}

// --max-active-jobs reads JACKDAW_MAX_ACTIVE_JOBS.
void AddEnvironment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string flag = option->get_name();
    if (flag == "--help" || flag == "--version") continue;
    const std::string name = absl::StrReplaceAll(flag.substr(2), {{"-", "_"}});
    option->envname("JACKDAW_" + absl::AsciiStrToUpper(name));
  }
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  ServerOptions options;
  Texts texts;
  CLI::App app("Runs graphs of tasks as a service.", "jackdawd");
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", absl::StrCat("jackdawd ", kVersion));
  app.set_config("--config", "", "Read flags from this file (TOML or INI).");
  AddNetwork(app, options, texts);
  AddWork(app, options, texts);
  AddLimits(app, options, texts);
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off.")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  AddEnvironment(app);
  app.footer(kExamples);
  CommandLine result;
  // CLI11 reports by exception; it ends here.
  try {
    app.parse(argc, argv);
    Apply(texts, options);
    result.serve = std::move(options);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream wrong;
    result.exit_code = app.exit(error, out, wrong) == 0 ? 0 : 2;
    result.text = out.str() + wrong.str();
  }
  return result;
}

}  // namespace jackdaw
