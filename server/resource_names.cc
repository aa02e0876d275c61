#include "server/resource_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/errors.h"

namespace jackdaw {
namespace {

constexpr std::size_t kMaxTaskIdBytes = 128;
constexpr std::size_t kMaxJobIdBytes = 63;
constexpr std::size_t kMaxTokenBytes = 128;

template <typename Predicate>
bool All(absl::string_view text, Predicate predicate) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return predicate(static_cast<unsigned char>(c)); });
}

absl::Status NameError(absl::string_view field, absl::string_view form, absl::string_view name) {
  return FieldError(field, absl::StrCat("must be of the form `", form, "`, was \"", name, "\""),
                    "INVALID_NAME");
}

}  // namespace

bool IsDecimal(absl::string_view text) {
  return !text.empty() && All(text, [](unsigned char c) { return absl::ascii_isdigit(c); });
}

bool IsTaskId(absl::string_view id) {
  return !id.empty() && id.size() <= kMaxTaskIdBytes && !IsDecimal(id) &&
         All(id, [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
         });
}

bool IsJobId(absl::string_view id) {
  return !id.empty() && id.size() <= kMaxJobIdBytes &&
         absl::ascii_islower(static_cast<unsigned char>(id.front())) && id.back() != '-' &&
         All(id, [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

bool IsToken(absl::string_view token) {
  return token.size() <= kMaxTokenBytes &&
         All(token, [](unsigned char c) { return absl::ascii_isprint(c); });
}

std::string JobName(absl::string_view job_id) { return absl::StrCat("jobs/", job_id); }

std::string TaskName(absl::string_view job_id, absl::string_view task_id) {
  return absl::StrCat("jobs/", job_id, "/tasks/", task_id);
}

absl::StatusOr<std::string> ParseJobName(absl::string_view field, absl::string_view name) {
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, "jobs/") || !IsJobId(rest)) {
    return NameError(field, "jobs/{job}", name);
  }
  return std::string(rest);
}

absl::StatusOr<TaskNameParts> ParseTaskName(absl::string_view field, absl::string_view name) {
  constexpr absl::string_view kMiddle = "/tasks/";
  absl::string_view rest = name;
  const bool is_job = absl::ConsumePrefix(&rest, "jobs/");
  const std::size_t middle = rest.find(kMiddle);
  if (is_job && middle != absl::string_view::npos) {
    const absl::string_view job = rest.substr(0, middle);
    const absl::string_view task = rest.substr(middle + kMiddle.size());
    if (IsJobId(job) && (IsTaskId(task) || IsDecimal(task))) {
      return TaskNameParts{std::string(job), std::string(task)};
    }
  }
  return NameError(field, "jobs/{job}/tasks/{task}", name);
}

}  // namespace jackdaw
