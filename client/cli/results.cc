#include "client/cli/results.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/progress.h"
#include "client/cli/text.h"
#include "client/cpp/convert.h"
#include "google/rpc/code.pb.h"

namespace jackdaw::cli {
namespace {

std::string LogEnd(Client& client, const std::string& job, const v1::Task& task) {
  if (task.attempts().empty()) return "";
  const v1::Attempt& last = *task.attempts().rbegin();
  if (last.log_bytes() == 0) return "";
  Client::ReadOptions options;
  options.source = v1::ReadOutputRequest::SOURCE_LOG;
  options.attempt = last.number();
  options.offset = std::max<std::int64_t>(0, last.log_bytes() - kMaxShownLogBytes);
  std::string text;
  const auto read = client.ReadOutput(job, task.name(), options, [&](absl::string_view piece) {
    text.append(piece.data(), piece.size());
  });
  if (!read.ok()) return "";  // A log that is gone meanwhile is no reason to hide the failure.
  return text;
}

std::string CodeName(int code) {
  return google::rpc::Code_IsValid(code)
             ? google::rpc::Code_Name(static_cast<google::rpc::Code>(code))
             : absl::StrCat(code);
}

}  // namespace

absl::StatusOr<std::vector<v1::Task>> FetchResults(Client& client, const std::string& job,
                                                   const std::vector<std::string>& tasks) {
  std::vector<v1::Task> results;
  for (const std::string& id : tasks) {
    if (results.size() == kMaxShown) break;
    absl::StatusOr<v1::Task> task = client.GetTask(job, id, kMaxShownBytes);
    if (!task.ok()) return task.status();
    results.push_back(*std::move(task));
  }
  return results;
}

absl::StatusOr<std::vector<Failure>> FetchFailures(Client& client, const std::string& job) {
  v1::ListTasksRequest request;
  request.set_parent(job);
  request.set_page_size(static_cast<std::int32_t>(kMaxShown));
  request.add_states(v1::Task::STATE_FAILED);
  request.set_view(v1::TASK_VIEW_FULL);
  absl::StatusOr<v1::ListTasksResponse> page = client.ListTasks(request);
  if (!page.ok()) return page.status();
  std::vector<Failure> failures;
  for (v1::Task& task : *page->mutable_tasks()) {
    std::string log = LogEnd(client, job, task);
    failures.push_back({std::move(task), std::move(log)});
  }
  return failures;
}

std::string FirstLines(absl::string_view text, std::size_t max_lines, bool* cut) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < max_lines && end < text.size(); ++line) {
    const std::size_t newline = text.find('\n', end);
    end = newline == absl::string_view::npos ? text.size() : newline + 1;
  }
  *cut = end < text.size();
  std::string lines(text.substr(0, end));
  if (!lines.empty() && lines.back() != '\n') lines += '\n';
  return lines;
}

std::string FormatEnd(const v1::Job& job) {
  std::string line = absl::StrCat(job.name(), " ", StateName(job.state()));
  if (job.has_create_time() && job.has_end_time()) {
    absl::StrAppend(
        &line, " in ",
        ReadableDuration(client::FromProto(job.end_time()) - client::FromProto(job.create_time())));
  }
  absl::StrAppend(&line, ", ", Summary(job.task_counts()), "\n");
  if (job.has_error()) {
    absl::StrAppend(&line, CodeName(job.error().code()), ": ",
                    Printable(job.error().message(), LineEnds::kEscape), "\n");
  }
  return line;
}

std::string FormatResult(const std::string& job, const v1::Task& task) {
  const std::string id(client::LastPart(task.name()));
  if (task.state() != v1::Task::STATE_SUCCEEDED) {
    return absl::StrCat("== ", id, ": ", StateName(task.state()), "\n");
  }
  bool cut = false;
  const std::string lines =
      FirstLines(Printable(task.output(), LineEnds::kKeep), kMaxShownLines, &cut);
  std::string text =
      absl::StrCat("== ", id, " (", ReadableBytes(task.output_bytes()), ")\n", lines);
  if (cut || static_cast<std::int64_t>(task.output().size()) < task.output_bytes()) {
    absl::StrAppend(&text, "... the rest: jackdaw result ", client::LastPart(job), " ", id, "\n");
  }
  return text;
}

std::string FormatFailure(const Failure& failure) {
  const v1::Task& task = failure.task;
  std::string text =
      absl::StrCat("== ", client::LastPart(task.name()), " FAILED after ",
                   Count(task.attempt_count(), "attempt"), ": ", CodeName(task.error().code()),
                   ": ", Printable(task.error().message(), LineEnds::kEscape), "\n");
  if (!failure.log_end.empty()) {
    std::string log = Printable(failure.log_end, LineEnds::kKeep);
    if (log.back() == '\n') log.pop_back();
    absl::StrAppend(&text, "   | ", absl::StrReplaceAll(log, {{"\n", "\n   | "}}), "\n");
  }
  return text;
}

}  // namespace jackdaw::cli
