// CommandSpec: which program to run, and how.

#ifndef JACKDAW_SCHEDULER_EXEC_COMMAND_SPEC_H_
#define JACKDAW_SCHEDULER_EXEC_COMMAND_SPEC_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace jackdaw {

struct CommandSpec {
  enum class Stdin {
    kEmpty,    // Nothing: /dev/null.
    kPayload,  // The payload of the task.
    kInputs,   // The outputs of its dependencies, in their order.
  };

  // The program and its arguments, never empty. A program without a slash is looked up in
  // PATH; one with a slash that is not absolute is relative to the working directory.
  std::vector<std::string> argv;
  // On top of what the operator passes on; wins over it.
  std::map<std::string, std::string> environment;
  std::string working_directory;  // Absolute. "": the server's.
  Stdin stdin_from = Stdin::kEmpty;

  // Linux's own limit of one string, its NUL byte not counted.
  static constexpr std::size_t kMaxArgumentBytes = 128 * 1024 - 1;
  // Of arguments and environment together, each with its NUL byte and its pointer: half of
  // what Linux takes at the usual stack limit.
  static constexpr std::size_t kMaxTotalBytes = 1 << 20;
  static constexpr std::size_t kMaxDirectoryBytes = 4095;
};

// INVALID_ARGUMENT, with the field (`argv[3]`), its limit and its value.
[[nodiscard]] absl::Status Validate(const CommandSpec& spec);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COMMAND_SPEC_H_
