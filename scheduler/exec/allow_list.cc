#include "scheduler/exec/allow_list.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/exec/program_path.h"
#include "scheduler/exec/safe_text.h"

namespace jackdaw {
namespace {

// Variables by which the dynamic linker, the C library or an interpreter finds code.
bool LoadsCode(absl::string_view variable) {
  static constexpr absl::string_view kNames[] = {
      "PATH",         "GCONV_PATH",        "BASH_ENV", "ENV",     "IFS",
      "SHELLOPTS",    "PERL5LIB",          "PERL5OPT", "RUBYLIB", "RUBYOPT",
      "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "NODE_PATH"};
  for (const absl::string_view name : kNames) {
    if (variable == name) return true;
  }
  return absl::StartsWith(variable, "LD_") || absl::StartsWith(variable, "PYTHON") ||
         absl::StartsWith(variable, "BASH_FUNC_");
}

}  // namespace

AllowList::AllowList(bool allow_all, const std::vector<std::string>& allowed,
                     std::string search_path)
    : allow_all_(allow_all), search_path_(std::move(search_path)) {
  for (const std::string& entry : allowed) {
    if (!absl::StrContains(entry, '/')) {
      if (!entry.empty()) names_.insert(entry);
    } else if (std::string path = CanonicalProgram(entry); !path.empty() && entry[0] == '/') {
      paths_.insert(std::move(path));
    }
  }
}

bool AllowList::AllowsProgram(const std::string& program) const {
  if (!absl::StrContains(program, '/')) {
    if (names_.contains(program)) return true;
    const absl::StatusOr<std::string> found = FindProgram(program, search_path_);
    return found.ok() && paths_.contains(CanonicalProgram(*found));
  }
  if (program[0] != '/') return false;
  const std::string canonical = CanonicalProgram(program);
  if (paths_.contains(canonical)) return true;
  const absl::string_view name = Basename(program);
  if (!names_.contains(name)) return false;
  const absl::StatusOr<std::string> found = FindProgram(name, search_path_);
  return found.ok() && CanonicalProgram(*found) == canonical;
}

absl::Status AllowList::Check(const CommandSpec& spec) const {
  if (allow_all_) return absl::OkStatus();
  if (!enabled()) {
    return absl::PermissionDeniedError("argv[0]: this server was not started to run commands");
  }
  if (!AllowsProgram(spec.argv[0])) {
    return absl::PermissionDeniedError(absl::StrCat("argv[0]: program \"", SafeText(spec.argv[0]),
                                                    "\" is not one that this server may run"));
  }
  for (const auto& [name, value] : spec.environment) {
    if (LoadsCode(name)) {
      return absl::PermissionDeniedError(
          absl::StrCat("environment[\"", SafeText(name, 60),
                       "\"]: this server lets no client set it, for it decides what code runs"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> AllowList::Resolve(const CommandSpec& spec) const {
  const std::string& program = spec.argv[0];
  if (absl::StrContains(program, '/')) return program;
  // Where everything is allowed, a PATH of the command's own counts, as with env(1).
  const auto own = spec.environment.find("PATH");
  if (allow_all_ && own != spec.environment.end()) return FindProgram(program, own->second);
  return FindProgram(program, search_path_);
}

}  // namespace jackdaw
