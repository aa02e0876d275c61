// Errors: the mistakes found in one job file, each with its place.
//
// Thread safety: none; one per file that is read.

#ifndef JACKDAW_CLIENT_JOBFILE_ERRORS_H_
#define JACKDAW_CLIENT_JOBFILE_ERRORS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jackdaw::jobfile {

// More would scroll the first ones, which matter most, off the screen.
inline constexpr std::size_t kMaxReportedErrors = 20;

// From 1, as editors count. 0: unknown.
struct Place {
  int line = 0;
  int column = 0;
};

class Errors {
 public:
  explicit Errors(absl::string_view file_name) : file_name_(file_name) {}

  // `field` may be empty when the mistake is not in a field.
  void Add(Place place, absl::string_view field, absl::string_view message);

  [[nodiscard]] bool empty() const { return found_ == 0; }
  // OK when empty, otherwise INVALID_ARGUMENT with one line a mistake, in file order.
  [[nodiscard]] absl::Status ToStatus() const;

 private:
  struct Line {
    Place place;
    std::string text;
  };

  const std::string file_name_;
  std::size_t found_ = 0;
  std::vector<Line> lines_;
};

}  // namespace jackdaw::jobfile

#endif  // JACKDAW_CLIENT_JOBFILE_ERRORS_H_
