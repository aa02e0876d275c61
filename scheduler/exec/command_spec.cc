#include "scheduler/exec/command_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "scheduler/exec/safe_text.h"

namespace jackdaw {
namespace {

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::Status ValidateText(absl::string_view field, absl::string_view text, std::size_t max_bytes) {
  if (text.find('\0') != absl::string_view::npos) {
    return Bad(field, absl::StrCat("\"", SafeText(text, 60), "\" contains a NUL byte"));
  }
  if (text.size() > max_bytes) {
    return Bad(field, absl::StrCat(text.size(), " bytes exceed the limit of ", max_bytes));
  }
  return absl::OkStatus();
}

absl::Status ValidateVariable(absl::string_view name, absl::string_view value) {
  const std::string field = absl::StrCat("environment[\"", SafeText(name, 60), "\"]");
  if (name.empty()) return Bad(field, "the name must not be empty");
  if (name.find('=') != absl::string_view::npos) return Bad(field, "the name contains '='");
  if (absl::Status s = ValidateText(field, name, CommandSpec::kMaxArgumentBytes); !s.ok()) return s;
  // Name, '=' and value are one string to the system.
  if (name.size() + 1 + value.size() > CommandSpec::kMaxArgumentBytes) {
    return Bad(field, absl::StrCat(name.size() + 1 + value.size(),
                                   " bytes with the name exceed the limit of ",
                                   CommandSpec::kMaxArgumentBytes));
  }
  return ValidateText(field, value, CommandSpec::kMaxArgumentBytes);
}

absl::Status ValidateDirectory(absl::string_view directory) {
  if (directory.empty()) return absl::OkStatus();
  if (directory[0] != '/') {
    return Bad("working_directory",
               absl::StrCat("\"", SafeText(directory), "\" is not an absolute path"));
  }
  return ValidateText("working_directory", directory, CommandSpec::kMaxDirectoryBytes);
}

}  // namespace

absl::Status Validate(const CommandSpec& spec) {
  if (spec.argv.empty()) return Bad("argv", "a command needs at least a program");
  if (spec.argv[0].empty()) return Bad("argv[0]", "the program must not be empty");
  std::size_t total = 0;
  for (std::size_t i = 0; i < spec.argv.size(); ++i) {
    const absl::Status valid =
        ValidateText(absl::StrCat("argv[", i, "]"), spec.argv[i], CommandSpec::kMaxArgumentBytes);
    if (!valid.ok()) return valid;
    total += spec.argv[i].size() + 1 + sizeof(char*);
  }
  for (const auto& [name, value] : spec.environment) {
    if (absl::Status valid = ValidateVariable(name, value); !valid.ok()) return valid;
    total += name.size() + 1 + value.size() + 1 + sizeof(char*);
  }
  if (total > CommandSpec::kMaxTotalBytes) {
    return Bad("argv",
               absl::StrCat(total, " bytes of arguments and environment exceed the limit of ",
                            CommandSpec::kMaxTotalBytes));
  }
  return ValidateDirectory(spec.working_directory);
}

}  // namespace jackdaw
