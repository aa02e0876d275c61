// AllowList: which programs the operator lets clients run.
//
// An entry is a name, looked up in the server's PATH, or an absolute path. The list is
// about programs: what an allowed program does with its arguments is the operator's to
// judge (to allow `sh`, `env`, `find` or `awk` is to allow everything). So that a client
// cannot swap an allowed program for another, the search path is always the server's, and
// variables that make the system load other code are refused.
//
// Thread safety: immutable; any thread.

#ifndef JACKDAW_SCHEDULER_EXEC_ALLOW_LIST_H_
#define JACKDAW_SCHEDULER_EXEC_ALLOW_LIST_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/exec/command_spec.h"

namespace jackdaw {

class AllowList {
 public:
  // `search_path`: the server's PATH.
  AllowList(bool allow_all, const std::vector<std::string>& allowed, std::string search_path);

  // Whether anything at all is allowed.
  [[nodiscard]] bool enabled() const { return allow_all_ || !names_.empty() || !paths_.empty(); }

  // PERMISSION_DENIED: commands are off, the program is not on the list, or a variable is
  // not the client's to set.
  [[nodiscard]] absl::Status Check(const CommandSpec& spec) const;

  // The file to execute for a spec that passed Check(). Errors as FindProgram(). A path
  // with a slash is returned as it is.
  [[nodiscard]] absl::StatusOr<std::string> Resolve(const CommandSpec& spec) const;

 private:
  [[nodiscard]] bool AllowsProgram(const std::string& program) const;

  const bool allow_all_;
  const std::string search_path_;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_set<std::string> paths_;  // Canonical.
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_ALLOW_LIST_H_
