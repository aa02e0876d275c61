#include "scheduler/pool/error_edge.h"

#include <cstdio>
#include <exception>

#include "absl/strings/str_cat.h"
#include "scheduler/pool/task.h"

namespace jackdaw {
namespace {

// What is being handled, in words.
std::string CurrentExceptionText() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

void Print(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

}  // namespace

void ErrorEdge::ReportCurrentException() const noexcept {
  const std::string what =
      absl::StrCat("runner '", runner_, "': uncaught: ", CurrentExceptionText());
  if (!on_error_) return Print(what);
  try {
    on_error_(absl::UnknownError(what));
  } catch (...) {
    Print(what);
    Print(absl::StrCat("runner '", runner_, "': on_error threw: ", CurrentExceptionText()));
  }
}

void ReportThrownByTask() noexcept { ErrorEdge::Current().ReportCurrentException(); }

}  // namespace jackdaw
