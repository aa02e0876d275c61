#include "server/kind_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "jackdaw/v1/task.pb.h"
#include "server/policy_convert.h"

namespace jackdaw {
namespace {

v1::Task KindOnly(const v1::Task& task) {
  v1::Task kind;
  if (task.has_function()) *kind.mutable_function() = task.function();
  if (task.has_command()) *kind.mutable_command() = task.command();
  if (task.has_handler()) *kind.mutable_handler() = task.handler();
  kind.set_run_if(task.run_if());
  kind.set_priority(task.priority());
  kind.set_runner(task.runner());
  if (task.has_retry_policy()) *kind.mutable_retry_policy() = task.retry_policy();
  if (task.has_attempt_timeout()) *kind.mutable_attempt_timeout() = task.attempt_timeout();
  if (task.has_queue_timeout()) *kind.mutable_queue_timeout() = task.queue_timeout();
  return kind;
}

// Most tasks call a function and leave the rest at its default: cheap to tell apart.
std::string KindKey(const v1::Task& task) {
  const bool plain = task.has_function() && task.run_if() == 0 && task.priority() == 0 &&
                     task.runner().empty() && !task.has_retry_policy() &&
                     !task.has_attempt_timeout() && !task.has_queue_timeout();
  return plain ? task.function().name() : absl::StrCat("\n", KindOnly(task).SerializeAsString());
}

CommandSpec ToCommandSpec(const v1::CommandAction& command) {
  CommandSpec spec;
  spec.argv.assign(command.argv().begin(), command.argv().end());
  for (const auto& [name, value] : command.environment()) spec.environment[name] = value;
  spec.working_directory = command.working_directory();
  if (command.stdin() == v1::CommandAction::STDIN_PAYLOAD) {
    spec.stdin_from = CommandSpec::Stdin::kPayload;
  } else if (command.stdin() == v1::CommandAction::STDIN_INPUTS) {
    spec.stdin_from = CommandSpec::Stdin::kInputs;
  }
  return spec;
}

}  // namespace

std::uint32_t KindTable::Of(const v1::Task& task, absl::FunctionRef<std::string()> path) {
  std::string key = KindKey(task);
  const auto found = place_of_.find(key);
  if (found != place_of_.end()) return found->second;
  TaskBatch::Kind kind;
  kind.policy = ToPolicy(task, priority_, path(), &violations_);
  kind.action = ToAction(task, path());
  CheckRunner(task, path());
  if (kind.action == nullptr) return 0;
  const auto place = static_cast<std::uint32_t>(kinds_.size());
  kinds_.push_back(std::move(kind));
  messages_.push_back(KindOnly(task).SerializeAsString());
  place_of_.emplace(std::move(key), place);
  return place;
}

void KindTable::CheckRunner(const v1::Task& task, const std::string& path) {
  const auto& runners = catalog_.runners;
  if (task.runner().empty() ||
      std::find(runners.begin(), runners.end(), task.runner()) != runners.end()) {
    return;
  }
  violations_.Add(path + ".runner",
                  absl::StrCat("there is no runner \"", task.runner(), "\"; there is ",
                               absl::StrJoin(runners, ", ")),
                  "UNKNOWN_RUNNER");
}

std::shared_ptr<Action> KindTable::ToAction(const v1::Task& task, const std::string& path) {
  if (task.has_command()) return ToCommand(task.command(), path + ".command");
  if (task.has_function()) {
    std::shared_ptr<Action> action = catalog_.functions->Find(task.function().name());
    if (action != nullptr) return action;
    violations_.Add(path + ".function.name",
                    absl::StrCat("there is no function \"", task.function().name(), "\""),
                    "UNKNOWN_FUNCTION");
  } else if (task.has_handler()) {
    violations_.Add(path + ".handler", "this server does not run handlers yet",
                    "HANDLERS_NOT_IMPLEMENTED");
  } else {
    violations_.Add(path + ".action", "one of function, command and handler is required",
                    "NO_ACTION");
  }
  return nullptr;
}

std::shared_ptr<Action> KindTable::ToCommand(const v1::CommandAction& command,
                                             const std::string& path) {
  if (!catalog_.caller_may_run_commands) {
    denied_ = MakeError(absl::StatusCode::kPermissionDenied,
                        path + ": commands are only for callers on the server's own machine",
                        "COMMANDS_NOT_FOR_THIS_CALLER", {{"field", path}});
    return nullptr;
  }
  if (command.argv_size() == 0 || command.argv(0).empty()) {
    violations_.Add(path + ".argv", "the program is missing", "EMPTY_COMMAND");
    return nullptr;
  }
  if (!v1::CommandAction::Stdin_IsValid(command.stdin())) {
    violations_.Add(path + ".stdin", absl::StrCat("is not a known value: ", command.stdin()));
    return nullptr;
  }
  auto action = catalog_.commands->Make(ToCommandSpec(command));
  if (action.ok()) return *std::move(action);
  if (absl::IsPermissionDenied(action.status())) {
    denied_ = MakeError(absl::StatusCode::kPermissionDenied,
                        absl::StrCat(path, ": ", action.status().message()), "COMMAND_NOT_ALLOWED",
                        {{"field", path}});
  } else {
    violations_.Add(path, std::string(action.status().message()), "INVALID_COMMAND");
  }
  return nullptr;
}

}  // namespace jackdaw
