#include "client/cli/context.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/text.h"
#include "client/cpp/errors.h"
#include "client/jobfile/words.h"

namespace jackdaw::cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  if (client::IsNotGrpc(status)) return kUnreachable;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kSuccess;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return kUnreachable;
    default:
      return kRefused;
  }
}

std::unique_ptr<Client> Context::Connect() const {
  const auto span = jobfile::ParseDuration(deadline);
  if (!span.has_value() || *span == absl::ZeroDuration()) {
    FailUsage(
        absl::StrCat("--deadline: found \"", deadline, "\", expected a duration such as 30s"));
    return nullptr;
  }
  Client::Options options;
  options.address = server;
  options.deadline = *span;
  absl::StatusOr<std::unique_ptr<Client>> connected = Client::Connect(std::move(options));
  if (connected.ok()) return *std::move(connected);
  FailUsage(connected.status().message());
  return nullptr;
}

int Context::Fail(const absl::Status& status) const {
  *err << "jackdaw: " << absl::StatusCodeToString(status.code()) << ": "
       << Printable(status.message(), LineEnds::kKeep) << "\n";
  const ExitCode code = ExitCodeOf(status);
  if (status.code() == absl::StatusCode::kUnavailable) {
    *err << "Is jackdawd running there? Start it, or name another with --server or "
            "JACKDAW_SERVER.\n";
  }
  return code;
}

int Context::FailUsage(absl::string_view message) const {
  *err << "jackdaw: " << Printable(message, LineEnds::kKeep) << "\n";
  return kUsage;
}

}  // namespace jackdaw::cli
