#include "scheduler/exec/program_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/exec/safe_text.h"

namespace jackdaw {

absl::StatusOr<std::string> FindProgram(absl::string_view name, absl::string_view search_path) {
  bool denied = false;
  for (const absl::string_view directory : absl::StrSplit(search_path, ':')) {
    if (directory.empty() || directory[0] != '/') continue;
    std::string path = absl::StrCat(directory, "/", name);
    struct stat info;
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) return path;
    denied = true;
  }
  if (denied) {
    return absl::PermissionDeniedError(
        absl::StrCat("program \"", SafeText(name), "\" may not be executed"));
  }
  return absl::NotFoundError(
      absl::StrCat("program \"", SafeText(name), "\" was not found in PATH"));
}

std::string CanonicalProgram(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  const std::unique_ptr<char, decltype(&free)> real(realpath(directory.c_str(), nullptr), &free);
  if (real == nullptr) return "";
  const absl::string_view base = absl::string_view(real.get()) == "/" ? "" : real.get();
  return absl::StrCat(base, "/", Basename(path));
}

absl::string_view Basename(absl::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace jackdaw
